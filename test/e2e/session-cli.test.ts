/** `carrel session` and `carrel chat` with the demo agent: as commands, piped, and on a pseudo-terminal. */
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SessionView } from '../../src/noun/session/api.ts';
import { gather, Installation, type Outcome, until } from '../harness/installation.ts';
import { carrelOn, type Terminal } from '../harness/terminal.ts';

const carrel = new Installation();
const project = carrel.folder('project');
let box = '';

/** Runs `carrel chat` with the input on a pipe. */
const piped = (input: string, ...args: string[]): Promise<Outcome> => carrel.process(['chat', ...args], { input });
const session = (...args: string[]) => carrel.run(['session', ...args]);
const list = () => carrel.json<SessionView[]>('session', 'ls', box);
const show = () => carrel.json<SessionView>('session', 'show', box);
const state = async (wanted: string) => {
  await until(async () => (await show()).state === wanted, `the session to be ${wanted}`);
};

beforeAll(async () => {
  carrel.write('project/a.txt', 'one\n');
  expect(await piped('list files', project, '--agent', 'demo')).toMatchObject({
    exitCode: 0,
    stdout: '✓ List .: a.txt\nThere are 1: a.txt\n',
  });
  [{ sandbox: box }] = (await carrel.json<[SessionView]>('session', 'ls')) as [SessionView];
});
afterAll(() => carrel.dispose());

describe('carrel session', () => {
  it('send --wait prints the answer and ends with the code of the turn', async () => {
    expect(await session('send', box, '--wait', 'say', 'hello')).toMatchObject({ exitCode: 0, stdout: 'hello\n' });
    const answered = await carrel.json('session', 'send', box, '--wait', 'say hello');
    expect(answered).toMatchObject({ stopReason: 'end_turn', text: 'hello', turnId: expect.any(String) });
    const waiting = session('send', box, '--wait', 'wait 60');
    await state('working');
    expect(await session('cancel', box)).toMatchObject({ exitCode: 0 });
    expect(await waiting).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('the turn was cancelled') });
  });

  it('send refuses a busy session and names --queue, which makes the prompt wait', async () => {
    await carrel.ok('session', 'send', box, 'wait 60');
    const refused = await session('send', box, 'say no');
    expect(refused).toMatchObject({ exitCode: 6, stderr: expect.stringMatching(/busy.*\n.*--queue/) });
    await carrel.ok('session', 'send', box, '--queue', 'say queued');
    expect(await carrel.ok('session', 'show', box, '--last', '0')).toContain('working, 1 queued');
    expect(await carrel.json('session', 'cancel', box)).toMatchObject({ sandbox: box });
    await until(async () => (await carrel.ok('session', 'show', box)).endsWith('\nqueued\n'), 'the queued prompt');
  });

  it('answer takes the key of an option or the text of a choice, and nothing else', async () => {
    await carrel.ok('session', 'send', box, 'write b.txt: two');
    await state('waiting');
    expect(await carrel.ok('session', 'show', box)).toContain('? Write b.txt  y Allow, a Always allow, n Reject');
    expect(await session('answer', box, 'perhaps')).toMatchObject({ exitCode: 2 });
    await carrel.ok('session', 'answer', box, 'y');
    await state('idle');
    expect(await session('answer', box, 'y')).toMatchObject({ exitCode: 5 });
    await carrel.ok('session', 'send', box, 'ask colour: red, blue');
    await state('waiting');
    expect(await carrel.json('session', 'answer', box, 'blue')).toMatchObject({ content: { answer: 'blue' } });
    await until(async () => (await carrel.ok('session', 'show', box)).includes('You answered: blue'), 'the answer');
    expect(readdirSync(project)).toEqual(['a.txt']);
  });

  it('follow prints events from any position on, across a daemon that is killed', async () => {
    const { seq } = await show();
    const following = carrel.spawn(['--json', 'session', 'follow', box, '--after', String(seq - 1)]);
    const seen = gather(following.stdout!);
    await until(() => seen().includes(`"seq":${seq},`), 'the last event');
    await carrel.killDaemon();
    expect(await session('send', box, '--wait', 'say after')).toMatchObject({ exitCode: 0, stdout: 'after\n' });
    await until(() => seen().includes('"turn.ended"', seen().indexOf('"say after"')), 'the events of the turn');
    following.kill();
    const numbers = [...seen().matchAll(/"seq":(\d+),/g)].map(([, number]) => Number(number));
    expect(numbers).toEqual(numbers.map((_, index) => seq + index));
  });

  it('SESSION_FILE, MESSAGES_FILE and the names in the home lead to the files of the newest session', async () => {
    const inside = (script: string) => carrel.ok('exec', box, '--', 'sh', '-c', script);
    const { sessionId, createdAt } = await show();
    for (const file of ['$SESSION_FILE', '$HOME/.config/carrel/agent-session.json'])
      expect(JSON.parse(await inside(`cat "${file}"`))).toMatchObject({ sessionId, cwd: '/workspace', createdAt });
    const first = { role: 'user', parts: [{ type: 'text', text: 'list files' }] };
    for (const file of ['$MESSAGES_FILE', '$HOME/.config/carrel/agent-messages.json'])
      expect(JSON.parse(await inside(`cat "${file}"`))[0]).toMatchObject(first);
  });

  it('fork, close and rm: a closed session stays readable and is not the newest open one', async () => {
    const [first] = await list();
    const { sessionId: fork } = await carrel.json<SessionView>('session', 'fork', box, '--title', 'copy');
    expect((await list()).map(({ title }) => title).toSorted()).toEqual(['copy', null]);
    const closed = await carrel.json<SessionView>('session', 'close', box, '--session', fork.slice(-8).toLowerCase());
    expect(closed).toMatchObject({ sessionId: fork, state: 'closed' });
    expect(await list()).toMatchObject([{ sessionId: first!.sessionId }]);
    expect(await carrel.ok('session', 'ls', '-a')).toMatch(/closed +\d+s +copy/);
    expect(await carrel.ok('session', 'show', box, '--session', fork)).toContain('forked from');
    expect(await session('send', box, '--session', fork, 'say no')).toMatchObject({ exitCode: 6 });
    expect(await piped('say no', box, '--session', fork)).toMatchObject({ exitCode: 6 });
    expect(await carrel.json('session', 'rm', box, '--session', fork)).toMatchObject({ sessionId: fork });
    expect(await session('show', box, '--session', fork)).toMatchObject({ exitCode: 5 });
  });
});

describe('carrel chat', () => {
  const terminals: Terminal[] = [];
  const chat = (...args: string[]): Terminal => {
    const terminal = carrelOn(carrel.home, ['chat', ...args]);
    terminals.push(terminal);
    return terminal;
  };
  afterAll(() => {
    for (const terminal of terminals) terminal.kill();
  });

  it('piped: prints how another client answers a question, and goes on with the answer', async () => {
    const chatting = carrel.spawn(['chat', box]);
    const [said, hint] = [gather(chatting.stdout!), gather(chatting.stderr!)];
    chatting.stdin!.end('write c.txt: three\n');
    await until(() => hint().includes('--question'), 'the hint');
    const [, command] = /answer with: carrel (.*)/.exec(hint())!;
    await carrel.ok(...command!.replace('KEY', 'n').split(' '));
    await until(() => chatting.exitCode !== null, 'the chat to end');
    expect([chatting.exitCode, said()]).toEqual([0, expect.stringContaining('→ Reject')]);
    expect(await piped('  \n', box)).toMatchObject({ exitCode: 2 });
  });

  it('a key answers, another viewer sees it, Ctrl-C cancels, Ctrl-D leaves', async () => {
    const [one, two] = [chat(project), chat(box)];
    await Promise.all([one.has(/Ctrl-D leaves/), two.has(/Ctrl-D leaves/)]);
    one.type('write d.txt: four\r');
    await Promise.all([one.has(/answer: y Allow/), two.has(/answer: y Allow/)]);
    two.type('y');
    await Promise.all([one.has(/I wrote d\.txt\.\s/), two.has(/I wrote d\.txt\.\s/)]);
    await one.has(/2 files changed: carrel diff/);
    two.type('wait 90\r');
    await one.has(/› wait 90.*Waiting.*working…/s);
    one.type('\x03');
    one.type('\x04');
    await two.has(/› wait 90.*Waiting.*cancelled/s);
    two.type('\x04');
    expect(await Promise.all([one.ended, two.ended])).toEqual([0, 0]);
    expect(one.text).toContain(`come back with: carrel chat ${box}`);
  });

  it('a turn goes on without viewers; a later chat shows it, and sends through a new daemon', async () => {
    const first = chat(box);
    await first.has(/Ctrl-D leaves/);
    first.type('ask size: small, large\r');
    await first.has(/1 small, 2 large/);
    first.type('\x04');
    await first.has(/the agent goes on; come back/);
    expect(await first.ended).toBe(0);
    await carrel.killDaemon();
    const second = chat(project);
    await second.has(/1 small, 2 large/);
    second.type('2');
    await second.has(/You answered: large/);
    await carrel.killDaemon();
    await second.has(/the daemon does not answer/);
    second.type('say again\r');
    // The screen shows more in between: that the agent works, and the changes of the turn before, which the new daemon
    // counts again.
    await second.has(/› say again[\s\S]*(?:\r\n|\[J)again/);
    second.type('\x03');
    await second.has(/Ctrl-C again or Ctrl-D leaves/);
    second.type('\x03');
    expect(await second.ended).toBe(0);
  });
});
