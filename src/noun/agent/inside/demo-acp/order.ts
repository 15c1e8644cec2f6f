/** The prompts that the demo agent understands. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { Conversation } from './conversation.ts';
import type { DemoPeer } from './peer.ts';
import { DemoTurn } from './turn.ts';

interface Order {
  readonly pattern: RegExp;
  readonly usage: string;
  readonly take: (turn: DemoTurn, ...words: string[]) => Promise<string | undefined>;
}

const maxShownChars = 64 * 1024;
const stepMs = 200;

/** `take` resolves to the stop reason of the turn; undefined: `end_turn`. */
const orders: readonly Order[] = [
  { pattern: /^list files(?: in (\S+))?$/i, usage: 'list files [in FOLDER]', take: listFiles },
  { pattern: /^read (\S+)$/i, usage: 'read FILE', take: readOne },
  { pattern: /^write (\S+?):\s?([\s\S]*)$/i, usage: 'write FILE: TEXT', take: writeOne },
  { pattern: /^ask ([^:]+)(?::([\s\S]*))?$/i, usage: 'ask QUESTION[: CHOICE, CHOICE…]', take: ask },
  { pattern: /^plan$/i, usage: 'plan', take: plan },
  { pattern: /^run ([\s\S]+)$/i, usage: 'run COMMAND', take: run },
  { pattern: /^wait (\d+(?:\.\d+)?)$/i, usage: 'wait SECONDS', take: wait },
  { pattern: /^say ([\s\S]+)$/i, usage: 'say TEXT', take: (turn, text) => done(turn.say(text)) },
  { pattern: /^think ([\s\S]+)$/i, usage: 'think TEXT', take: think },
  { pattern: /^recall$/i, usage: 'recall', take: recall },
  { pattern: /^refuse$/i, usage: 'refuse', take: async () => 'refusal' },
  { pattern: /^fail$/i, usage: 'fail', take: () => Promise.reject(new Error('I was asked to fail')) },
  { pattern: /^crash$/i, usage: 'crash', take: () => process.exit(9) },
];

const help = `I have no model. I understand these prompts:\n${orders.map(({ usage }) => `  ${usage}`).join('\n')}`;

/** One turn, from the prompt to its stop reason. */
export async function take(peer: DemoPeer, conversation: Conversation, prompt: string): Promise<object> {
  const signal = conversation.begin();
  const turn = new DemoTurn(peer, conversation, signal);
  conversation.remember({ role: 'user', text: prompt });
  try {
    return { stopReason: (await obey(turn, prompt.trim().replace(/^\//, ''))) ?? 'end_turn' };
  } catch (error) {
    if (!signal.aborted) throw error;
    return { stopReason: 'cancelled' };
  } finally {
    if (turn.text !== '') conversation.remember({ role: 'agent', text: turn.text });
    conversation.end();
  }
}

async function obey(turn: DemoTurn, prompt: string): Promise<string | undefined> {
  for (const { pattern, take } of orders) {
    const found = pattern.exec(prompt);
    if (found) return take(turn, ...found.slice(1));
  }
  return done(turn.say(help));
}

async function done(sent: Promise<void>): Promise<undefined> {
  await sent;
}

async function listFiles(turn: DemoTurn, folder = '.'): Promise<undefined> {
  const path = resolve(turn.conversation.cwd, folder);
  const call = await turn.begin('search', `List ${folder}`, { locations: [{ path }] });
  const names = await attempt(turn, call, () => readdirSync(path).sort());
  if (names === null) return;
  await turn.finish(call, 'completed', names.join('\n'));
  await turn.say(names.length === 0 ? 'There are no files.' : `There are ${names.length}: ${names.join(' ')}`);
}

async function readOne(turn: DemoTurn, file: string): Promise<undefined> {
  const path = resolve(turn.conversation.cwd, file);
  const call = await turn.begin('read', `Read ${file}`, { locations: [{ path }] });
  const content = await attempt(turn, call, () => readFileSync(path, 'utf8'));
  if (content === null) return;
  await turn.finish(call, 'completed', content.slice(0, maxShownChars));
  await turn.say(`${file} has ${content.split('\n').length - 1} lines.`);
}

async function writeOne(turn: DemoTurn, file: string, text: string): Promise<undefined> {
  const path = resolve(turn.conversation.cwd, file);
  const oldText = contentOf(path);
  const newText = text.endsWith('\n') ? text : `${text}\n`;
  const content = [{ type: 'diff', path, oldText, newText }];
  const call = await turn.begin('edit', `Write ${file}`, { locations: [{ path }], content });
  if (!(await turn.mayWrite(call, `Write ${file}`))) {
    await turn.finish(call, 'failed', 'not allowed');
    return done(turn.say(`I did not write ${file}.`));
  }
  await turn.update({ sessionUpdate: 'tool_call_update', toolCallId: call, status: 'in_progress' });
  const written = await attempt(turn, call, () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, newText);
    return true;
  });
  if (written === null) return;
  await turn.finish(call, 'completed');
  await turn.say(`I wrote ${file}.`);
}

async function ask(turn: DemoTurn, question: string, choices = ''): Promise<undefined> {
  if (!turn.conversation.canElicit) return done(turn.say('This client shows no questions.'));
  const offered = choices.split(',').map((choice) => choice.trim());
  const answer = await turn.elicit(question.trim(), offered.filter(Boolean));
  await turn.say(answer === null ? 'You did not answer.' : `You answered: ${answer}`);
}

async function plan(turn: DemoTurn): Promise<undefined> {
  const steps = ['look at the project', 'make the change', 'run the tests'];
  for (let at = 0; at <= steps.length; at += 1) {
    const status = (index: number) => (index < at ? 'completed' : index === at ? 'in_progress' : 'pending');
    const entries = steps.map((content, index) => ({ content, priority: 'medium', status: status(index) }));
    await turn.update({ sessionUpdate: 'plan', entries });
    await pause(stepMs, undefined, { signal: turn.signal });
  }
  await turn.say('The plan is done.');
}

async function run(turn: DemoTurn, command: string): Promise<undefined> {
  const [program = '', ...args] = command.trim().split(/\s+/);
  const call = await turn.begin('execute', `Run ${command}`, { rawInput: { command } });
  const { cwd } = turn.conversation;
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'], signal: turn.signal });
  const ended = new Promise<number | string>((settle) => {
    child.on('error', ({ message }) => settle(message)).on('close', (code, signal) => settle(code ?? signal ?? 1));
  });
  const [stdout, stderr, exit] = await Promise.all([readAll(child.stdout), readAll(child.stderr), ended]);
  turn.signal.throwIfAborted();
  await turn.finish(call, exit === 0 ? 'completed' : 'failed', `${stdout}${stderr}`.slice(0, maxShownChars));
  await turn.say(exit === 0 ? 'It succeeded.' : `It failed: ${exit}.`);
}

async function wait(turn: DemoTurn, seconds: string): Promise<undefined> {
  const end = Date.now() + Number(seconds) * 1000;
  await turn.say('Waiting');
  while (Date.now() < end) {
    await pause(Math.min(stepMs, Math.max(0, end - Date.now())), undefined, { signal: turn.signal });
    await turn.say('.');
  }
  await turn.say(' done.');
}

async function think(turn: DemoTurn, text: string): Promise<undefined> {
  await turn.say(text, 'agent_thought_chunk');
  await turn.say('I have thought.');
}

async function recall(turn: DemoTurn): Promise<undefined> {
  const prompts = turn.conversation.messages.filter(({ role }) => role === 'user').map(({ text }) => text);
  await turn.say(prompts.join('\n'));
}

async function attempt<T>(turn: DemoTurn, call: string, act: () => T): Promise<T | null> {
  try {
    return act();
  } catch (error) {
    const { message } = error as Error;
    await turn.finish(call, 'failed', message);
    await turn.say(`I could not do that: ${message}`);
    return null;
  }
}

function contentOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // The file is new, ignoring; any other error shows when the file is written.
    return null;
  }
}
