// @takes 30 s
/** Processes of the agent API that drive the demo agent, and are killed. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AgentApi, agentApiProgram } from '../fixtures/agent-api.ts';
import { soon } from '../fixtures/soon.ts';

let api: AgentApi;

beforeEach(() => {
  api = new AgentApi();
});
afterEach(() => api.dispose());

function runStart(program = agentApiProgram): Promise<number> {
  return new Promise((resolve, reject) => {
    const args = [program, 'start', JSON.stringify(api.paths)];
    const env = { PATH: process.env.PATH, HOME: api.root };
    const child = execFile(process.execPath, args, { env }, (error, stdout) => {
      if (error) reject(error);
      else resolve((JSON.parse(stdout) as { port: number }).port);
    });
    child.stdin!.end(JSON.stringify(api.settings));
  });
}

/** Processes whose arguments name the folder. */
function servers(): number[] {
  const isServer = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`serve\0{"folder":"${api.paths.folder}"`);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isServer(name))
    .map(Number);
}

test('start begins one agent API, however often it is run at once', async () => {
  try {
    const ports = await Promise.all([runStart(), runStart(), runStart()]);
    expect(new Set(ports).size).toBe(1);
    // The servers that lost the race are ending.
    await soon(() => expect(servers()).toHaveLength(1));
    api.use(ports[0]!);
    expect((await api.client.get('/health')).body).toMatchObject({ healthy: true, sandbox: 'web' });
  } finally {
    for (const pid of servers()) process.kill(pid, 'SIGTERM');
    await soon(() => expect(servers()).toEqual([]));
  }
});

test('start begins another agent API when the one that it began is killed', async () => {
  const program = join(api.root, 'killed-once.mjs');
  const killed = join(api.root, 'killed');
  const text = [
    "import { existsSync, writeFileSync } from 'node:fs';",
    `if (process.argv[2] === 'serve' && !existsSync('${killed}')) {`,
    `  writeFileSync('${killed}', '');`,
    "  process.kill(process.pid, 'SIGKILL');",
    '}',
    `await import('${agentApiProgram}');`,
  ];
  writeFileSync(program, text.join('\n'));
  try {
    api.use(await runStart(program));
    expect(existsSync(killed)).toBe(true);
    expect((await api.client.get('/health')).body).toMatchObject({ healthy: true });
  } finally {
    for (const pid of servers()) process.kill(pid, 'SIGTERM');
    await soon(() => expect(servers()).toEqual([]));
  }
});

test('a prompt runs to its end', async () => {
  await api.serve();
  const id = await api.create();
  const turn = await api.prompt(id, 'say one two');
  expect(await api.ended(id, turn)).toBe('end_turn');
  expect(api.textOf(id, turn)).toBe('one two');
});

test('a tool runs after its permission was answered', async () => {
  await api.serve();
  const id = await api.create();
  const turn = await api.prompt(id, 'write a.txt: hello');
  const { pendingId, title, options } = (await api.event(id, 'question')).data;
  expect([title, options?.map((one) => one.id)]).toEqual(['Write a.txt', ['allow', 'always', 'reject']]);
  expect(existsSync(join(api.paths.cwd, 'a.txt'))).toBe(false);
  await api.client.post(`/sessions/${id}/pending/${pendingId}`, { optionId: 'allow' });
  expect(await api.ended(id, turn)).toBe('end_turn');
  expect(readFileSync(join(api.paths.cwd, 'a.txt'), 'utf8')).toBe('hello\n');
  const again = await api.client.post(`/sessions/${id}/pending/${pendingId}`, { optionId: 'reject' });
  expect([again.status, again.body.code]).toEqual([409, 'conflict']);
});

test('a form of the agent is a question with a schema, and its fields are the answer', async () => {
  await api.serve();
  const id = await api.create();
  const turn = await api.prompt(id, 'ask colour: red, blue');
  const { pendingId, kind, schema } = (await api.event(id, 'question')).data;
  expect([kind, schema]).toMatchObject(['question', { properties: { answer: { enum: ['red', 'blue'] } } }]);
  await api.client.post(`/sessions/${id}/pending/${pendingId}`, { content: { answer: 'blue' } });
  expect(await api.ended(id, turn)).toBe('end_turn');
  expect(api.textOf(id, turn)).toContain('blue');
});

test('the agent uses the chosen mode and model, and so does the agent that is started after it', async () => {
  await api.serve();
  const id = await api.create();
  const unknown = await api.client.post(`/sessions/${id}/mode`, { mode: 'nosuch' });
  expect([unknown.status, unknown.body.hint]).toEqual([400, 'It has: ask, auto, read.']);
  const { body } = await api.client.post(`/sessions/${id}/mode`, { mode: 'auto', model: 'whole' });
  expect(body).toMatchObject({ modes: { current: 'auto' }, models: { current: 'whole' } });
  const pieces = (turnId: string) => api.log(id).filter((one) => one.type === 'text' && one.turnId === turnId).length;
  for (const name of ['first', 'second']) {
    const wrote = await api.prompt(id, `write ${name}.txt: hello`);
    expect(await api.ended(id, wrote)).toBe('end_turn');
    expect(existsSync(join(api.paths.cwd, `${name}.txt`))).toBe(true);
    const said = await api.prompt(id, 'say one two three');
    expect([await api.ended(id, said), pieces(said)]).toEqual(['end_turn', 1]);
    process.kill(api.agentPid(id), 'SIGKILL');
  }
  expect(api.log(id).filter(({ type }) => type === 'question')).toEqual([]);
});

test('S12 cancel ends a turn that would not end by itself', async () => {
  await api.serve();
  const id = await api.create();
  const turn = await api.prompt(id, 'wait 1000');
  await api.event(id, 'text');
  const { body } = await api.client.post(`/sessions/${id}/cancel`);
  expect(body.state).toBe('idle');
  expect(await api.ended(id, turn)).toBe('cancelled');
});

test('S3 after its agent was killed, the next prompt goes to an agent that loaded the session', async () => {
  await api.serve();
  const id = await api.create();
  const turn = await api.prompt(id, 'wait 1000');
  await api.event(id, 'text');
  process.kill(api.agentPid(id), 'SIGKILL');
  expect(await api.ended(id, turn)).toBe('interrupted');
  const next = await api.prompt(id, 'recall');
  expect(await api.ended(id, next)).toBe('end_turn');
  expect(api.textOf(id, next)).toBe('wait 1000\nrecall');
  expect(api.log(id).filter(({ type }) => type === 'session.note')).toEqual([]);
});

test('S10 a question can be answered after its agent was killed', async () => {
  await api.serve();
  const id = await api.create();
  const turn = await api.prompt(id, 'ask colour: red, blue');
  const { pendingId } = (await api.event(id, 'question')).data;
  process.kill(api.agentPid(id), 'SIGKILL');
  expect(await api.ended(id, turn)).toBe('interrupted');
  await answerLate(id, pendingId);
});

test('S10 a question can be answered after the agent API and the agent were killed', async () => {
  await api.serve();
  const id = await api.create();
  const turn = await api.prompt(id, 'ask colour: red, blue');
  const { pendingId } = (await api.event(id, 'question')).data;
  const agent = api.agentPid(id);
  await api.kill();
  await api.serve();
  await soon(() => expect(existsSync(`/proc/${agent}/exe`)).toBe(false));
  expect(await api.ended(id, turn)).toBe('interrupted');
  expect((await api.client.get(`/sessions/${id}/pending`)).body).toMatchObject([{ pendingId }]);
  await answerLate(id, pendingId);
});

test('S10 an answer counts when the agent is killed at the same moment', async () => {
  await api.serve();
  for (const delayMs of [0, 2, 4, 8]) {
    const id = await api.create();
    const turn = await api.prompt(id, `ask colour${delayMs}: red, blue`);
    const { pendingId } = (await api.event(id, 'question')).data;
    const answered = api.client.post(`/sessions/${id}/pending/${pendingId}`, { content: { answer: 'blue' } });
    await pause(delayMs);
    process.kill(api.agentPid(id), 'SIGKILL');
    expect((await answered).status).toBe(200);
    await api.ended(id, turn);
    const isHeard = api.textOf(id, turn) !== '';
    if (!isHeard) expect(await api.ended(id, `answer-${pendingId}`)).toBe('end_turn');
    const repeated = api.got().filter((text) => text.includes(`interrupted: colour${delayMs}\n`));
    expect(repeated).toHaveLength(isHeard ? 0 : 1);
  }
});

async function answerLate(id: string, pendingId: string): Promise<void> {
  const { status } = await api.client.post(`/sessions/${id}/pending/${pendingId}`, { content: { answer: 'blue' } });
  expect(status).toBe(200);
  expect(await api.ended(id, `answer-${pendingId}`)).toBe('end_turn');
  const got = api.got();
  expect(got).toHaveLength(2);
  expect(got[1]).toContain('colour');
  expect(got[1]).toContain('blue');
}

const rounds = 24;
const roundStepMs = 15;

test('S1 S2 whenever the agent API is killed, events stay, prompts run at most once, and none is lost', async () => {
  const seen: string[] = [];
  const accepted = new Set<string>();
  await api.serve();
  const id = await api.create();
  for (let round = 0; round < rounds; round += 1) {
    const sending = follow(id, seen).then(undefined, () => {});
    const turns = [`t${round}`, `t${round}b`];
    // The prompts of the round before may or may not have arrived.
    const repeated = round > 0 ? [`t${round - 1}`, `t${round - 1}b`] : [];
    const prompts = [...repeated, ...turns].map((turnId) =>
      api.prompt(id, `say ${turnId} 1 2 3 4`, { turnId, queue: true }).then(
        () => void accepted.add(turnId),
        () => {},
      ),
    );
    await pause(round * roundStepMs);
    await api.kill();
    await Promise.all([sending, ...prompts]);
    await api.serve();
  }
  const last = await api.prompt(id, 'say last', { queue: true });
  expect(await api.ended(id, last)).toBe('end_turn');

  const log = api.log(id);
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  const onDisk = readFileSync(join(api.paths.folder, id, 'events.ndjson'), 'utf8').split('\n');
  expect(seen.filter((line) => onDisk[JSON.parse(line).seq - 1] !== line)).toEqual([]);
  const of = (type: string) => log.filter((one) => one.type === type).map(({ turnId }) => turnId!);
  const prompted = of('prompt');
  expect(new Set(prompted).size).toBe(prompted.length);
  expect([...accepted].filter((turnId) => !prompted.includes(turnId))).toEqual([]);
  expect(of('turn.ended').sort()).toEqual([...prompted].sort());
  const got = api.got();
  expect(got.filter((text, index) => got.indexOf(text) !== index)).toEqual([]);
  const whole = log.filter((one) => one.type === 'turn.ended' && one.data.stopReason === 'end_turn');
  expect(whole.filter(({ turnId }) => turnId !== last && api.textOf(id, turnId!) !== `${turnId} 1 2 3 4`)).toEqual([]);
  const interrupted = log.filter((one) => one.type === 'turn.ended' && one.data.stopReason === 'interrupted');
  expect(Math.min(whole.length, interrupted.length, seen.length, accepted.size)).toBeGreaterThan(0);
});

async function follow(id: string, seen: string[]): Promise<void> {
  for await (const { data } of api.client.events(`/sessions/${id}/events`)) seen.push(data);
}
