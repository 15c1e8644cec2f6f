/** Sessions with the demo agent through the daemon: kills, rewritten logs and stops lose no event. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ulidAfter } from '../../src/model/ulid.ts';
import type { NewSessionToken, SessionView } from '../../src/noun/session/api.ts';
import { Installation, until } from '../harness/installation.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';
import { again, problemsOf, Talk } from '../harness/session.ts';

let carrel: Installation;
let account: RootlessAccount | null = null;
let project = '';
let talk: Talk;

export function sessionsThroughDaemon(kind: 'root' | 'rootless'): void {
  beforeAll(async () => {
    account = kind === 'rootless' ? createRootlessAccount() : null;
    carrel = new Installation(account);
    project = carrel.folder('project');
    await carrel.list();
    const body = { project, agent: 'demo', name: 'box' };
    talk = new Talk(carrel, await carrel.client.call('POST /v1/sessions', { body }));
  });
  afterAll(async () => {
    await carrel.dispose();
    account?.dispose();
  });
  describe('a session', conversation);
  describe('kill -9', killed);
  describe('the copy', copied);
  if (kind === 'root') describe('a request for sandbox and session', repeated);
  describe('a sandbox that runs another command', () => anySandbox(kind));
  if (kind === 'root') describe('a token', tokens);
}

const textOf = async () =>
  (await talk.messages())
    .filter(({ role }) => role === 'assistant')
    .map(({ parts }) => parts.map((part) => part.text ?? '').join(''));

/** Expects that the copy equals the log inside and is complete; reads both once no turn adds to them. */
async function expectWhole(one = talk): Promise<void> {
  await one.until('idle');
  const [events, inside] = [await one.events(), await one.inside()];
  expect(problemsOf(events)).toEqual([]);
  expect(events).toEqual(inside);
}

function conversation(): void {
  it('is created with its sandbox in one request, and the agent works on a copy of the project', async () => {
    await talk.say('say hello');
    expect((await textOf()).at(-1)).toBe('hello');
    expect(await carrel.show('box')).toMatchObject({ state: 'running', project, labels: { 'session-agent': 'demo' } });
    await expectWhole();
  });

  it('S9, S13 asks before it writes; the first answer counts, and the number of changed files is known', async () => {
    await talk.prompt('write a.txt: one');
    const { pending } = await talk.until('waiting');
    const [question] = pending;
    const yes = question!.options!.find(({ kind }) => kind === 'allow_once')!.id;
    await talk.answer(question!.pendingId, yes);
    await expect(talk.answer(question!.pendingId, yes)).rejects.toMatchObject({ code: 'conflict' });
    await talk.until('idle');
    const query = { changes: true };
    const shown = await carrel.client.call('GET /v1/sandboxes/{name}/sessions/{id}', { path: talk.path, query });
    expect(shown.changedFiles).toBe(1);
    expect(readdirSync(project)).toEqual([]);
  });

  it('goes on while the sandbox is paused by an apply', async () => {
    await talk.prompt('wait 0.6');
    await carrel.ok('apply', 'box');
    await talk.until('idle');
    expect(readdirSync(project)).toEqual(['a.txt']);
    await talk.say('say after');
    await expectWhole();
  });

  it('S12 refuses a prompt with conflict while it is busy, queues a prompt on request, and cancels its turn', async () => {
    await talk.prompt('wait 30');
    const input = { path: talk.path, body: { text: 'say queued' } };
    const route = 'POST /v1/sandboxes/{name}/sessions/{id}/prompt';
    await expect(carrel.client.call(route, input)).rejects.toMatchObject({ code: 'conflict' });
    await carrel.client.call(route, { ...input, body: { ...input.body, queue: true } });
    await carrel.client.call('POST /v1/sandboxes/{name}/sessions/{id}/cancel', { path: talk.path });
    await until(async () => (await textOf()).at(-1) === 'queued', 'the queued prompt');
    await expectWhole();
  });

  it('S14 is forked, and the fork continues by itself', async () => {
    const fork = new Talk(
      carrel,
      await carrel.client.call('POST /v1/sandboxes/{name}/sessions/{id}/fork', { path: talk.path, body: {} }),
    );
    const before = (await talk.show()).seq;
    await fork.say('say alone');
    expect((await talk.show()).seq).toBe(before);
    await expectWhole(fork);
    await carrel.client.call('DELETE /v1/sandboxes/{name}/sessions/{id}', { path: fork.path });
    await expect(fork.inside()).rejects.toThrow();
  });

  it('works at the same time as nine other sessions of its sandbox', async () => {
    const talks = await Promise.all(Array.from({ length: 9 }, () => Talk.in(carrel, 'box')));
    await Promise.all(talks.map((one, at) => one.say(`say I am ${at}`)));
    for (const [at, one] of talks.entries())
      expect(JSON.stringify(await one.messages())).toContain(`"text":"I am ${at}"`);
    expect(await carrel.client.call('GET /v1/sessions')).toHaveLength(10);
    for (const { path } of talks) await carrel.client.call('DELETE /v1/sandboxes/{name}/sessions/{id}', { path });
  });
}

function killed(): void {
  it('S4 of the daemon: the turn continues, and the copy has the events of that time', async () => {
    await talk.prompt('wait 1');
    await carrel.killDaemon();
    await until(async () => (await insideAlone()).includes('turn.ended'), 'the turn to end without a daemon');
    await talk.until('idle');
    expect((await textOf()).at(-1)).toMatch(/^Waiting\.+ done\.$/);
    await expectWhole();
  });

  it('S3 of the program inside: the turn is interrupted, and the next prompt is answered', async () => {
    await talk.prompt('wait 30');
    await kill('carrel-agent-api|agent/session/main');
    await until(async () => (await talk.show()).turnId === null, 'the turn to end');
    expect((await talk.events()).findLast(({ type }) => type === 'turn.ended')!.data).toMatchObject({
      stopReason: 'interrupted',
    });
    await talk.say('say again');
    expect((await textOf()).at(-1)).toBe('again');
    await expectWhole();
  });

  it('S3 of the agent: the turn is interrupted, and the next prompt is answered', async () => {
    await talk.prompt('wait 30');
    await talk.until('working');
    await until(async () => (await kill('demo-acp')) === 0, 'the agent to be killed');
    await until(async () => (await talk.show()).turnId === null, 'the turn to end');
    await talk.say('say once more');
    expect((await textOf()).at(-1)).toBe('once more');
    await expectWhole();
  });

  it('S3 of an idle agent: the next prompt is answered', async () => {
    expect(await kill('demo-acp')).toBe(0);
    const turnId = await talk.say('say awake');
    const [end, ...more] = (await talk.events()).filter(
      (event) => event.type === 'turn.ended' && event.turnId === turnId,
    );
    expect([end!.data, more]).toEqual([{ stopReason: 'end_turn' }, []]);
    expect((await textOf()).at(-1)).toBe('awake');
  });

  it('S9, S10 of all processes: the question stays open, and is answered after the sandbox starts again', async () => {
    await talk.prompt('write b.txt: two');
    const { pending } = await talk.until('waiting');
    await carrel.killDaemon();
    await carrel.ok('stop', '--grace', '0', 'box');
    expect((await talk.show()).pending).toEqual(pending);
    await talk.answer(pending[0]!.pendingId, pending[0]!.options!.find(({ kind }) => kind === 'allow_once')!.id);
    expect(await carrel.show('box')).toMatchObject({ state: 'running' });
    await until(async () => (await talk.show()).state === 'idle', 'the turn to end');
    await talk.say('say restarted');
    await expectWhole();
  });
}

/** Returns the exit code of pkill inside. */
async function kill(pattern: string): Promise<number> {
  return (await carrel.run(['exec', 'box', '--', 'pkill', '-9', '-f', pattern])).exitCode;
}

/** The type of the last event in the log inside, read without a daemon. */
async function insideAlone(): Promise<string> {
  return (await talk.inside())
    .slice(-1)
    .map(({ type }) => type)
    .join();
}

function copied(): void {
  it('S7 replaces a log that the agent rewrote or removed', async () => {
    const before = await talk.events();
    for (const damage of ['sed -i s/hello/forged/', "sed -i '5,$d'", 'rm']) {
      const file = `/.data/sessions/${talk.id}/events.ndjson`;
      await kill('carrel-agent-api|agent/session/main');
      await carrel.ok('exec', 'box', '--', 'sh', '-c', `${damage} ${file}`);
      await talk.say('say still here');
      expect((await talk.events()).slice(0, before.length)).toEqual(before);
    }
    await expectWhole();
  });

  it('answers while the sandbox is stopped, and is removed with the sandbox', async () => {
    await carrel.ok('stop', '--grace', '0', 'box');
    const seen = await talk.events();
    expect(problemsOf(seen)).toEqual([]);
    const { id } = await carrel.show('box');
    await carrel.ok('rm', '--force', 'box');
    expect(await carrel.client.call('GET /v1/sessions')).toEqual([] as SessionView[]);
    expect(readdirSync(`${carrel.home}/sandboxes`)).not.toContain(id);
  });
}

function repeated(): void {
  it.each(['start:noted', 'session.sandbox', 'session.changed'])(
    'can be repeated after a crash at %s',
    async (point) => {
      const body = { project, agent: 'demo', sessionId: ulidAfter(null, Date.now()) };
      await carrel.dieAt(point);
      const create = () => carrel.client.call('POST /v1/sessions', { body });
      await expect(create()).rejects.toMatchObject({ code: 'unavailable' });
      const made = await again(carrel, create);
      expect(await create()).toMatchObject({ sandbox: made.sandbox, sessionId: body.sessionId });
      const others = (await carrel.list()).filter(({ name }) => name !== 'box');
      expect(others).toMatchObject([{ name: made.sandbox, state: 'running' }]);
      await new Talk(carrel, made).say('say once');
      const sessions = await carrel.client.call('GET /v1/sandboxes/{name}/sessions', { path: { name: made.sandbox } });
      expect(sessions).toHaveLength(1);
      await carrel.ok('rm', '--force', made.sandbox);
    },
  );
}

/** Tests tokens for clients outside; the end of the daemon does not undo a revocation. */
function tokens(): void {
  it('S16 opens the port until it is revoked, also if the daemon is killed during the revocation', async () => {
    await carrel.ok('port', 'add', 'plain', '3002');
    const { token, id, url } = await carrel.json<NewSessionToken>('session', 'token', 'plain');
    const status = async () =>
      (await fetch(`${url}/sessions`, { headers: { Authorization: `Bearer ${token}` } })).status;
    expect(await status()).toBe(200);
    expect((await fetch(`${url}/sessions`)).status).toBe(401);
    expect(await carrel.ok('session', 'token', 'plain', 'ls')).toContain(id);
    await carrel.dieAt('session.token');
    await carrel.run(['session', 'token', 'plain', 'rm', id]);
    await carrel.list();
    await until(async () => (await status()) === 401, 'the token to be refused');
    expect(await carrel.ok('session', 'token', 'plain', 'ls')).not.toContain(id);
  });
}

function anySandbox(kind: 'root' | 'rootless'): void {
  it('has sessions while its command runs', async () => {
    await carrel.ok('run', '-d', '--name', 'plain', '--', 'sleep', '1000');
    const beside = await Talk.in(carrel, 'plain');
    await beside.say('say beside');
    await expectWhole(beside);
    expect(await carrel.show('plain')).toMatchObject({ state: 'running', command: ['sleep', '1000'] });
  });

  if (kind === 'root')
    it('is refused a session while it runs without the programs of sessions, and has them after a start', async () => {
      const lasting = `1000.${process.pid}`;
      await carrel.ok('run', '-d', '--name', 'older', '--', 'sleep', lasting);
      const found = () => spawnSync('pgrep', ['-fx', `sleep ${lasting}`], { encoding: 'utf8' }).stdout.trim();
      await until(() => found() !== '', 'the command to run');
      execFileSync('nsenter', ['-m', '-t', found(), 'umount', '/opt/carrel/bin']);
      await expect(Talk.in(carrel, 'older')).rejects.toMatchObject({
        code: 'conflict',
        hint: expect.stringContaining('carrel stop older && carrel start older'),
      });
      await carrel.ok('stop', '--grace', '0', 'older');
      await carrel.ok('start', 'older');
      await (await Talk.in(carrel, 'older')).say('say now');
    });
}
