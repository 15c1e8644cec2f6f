// @takes 30 s
/** Sessions that have many clients, and whose agent is hostile. */
import { copyFileSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewSessionToken } from '../../src/noun/session/api.ts';
import type { SessionEvent } from '../../src/noun/session/model/session.ts';
import { hashOf } from '../../src/noun/session/session-tokens.ts';
import { type Random, randomFrom } from '../fixtures/random-edits.ts';
import { Installation, until } from '../harness/installation.ts';
import { isRepeated } from '../harness/machine.ts';
import { problemsOf, Talk } from '../harness/session.ts';

const carrel = new Installation();
const project = carrel.folder('project');
const seed = Number(process.env.CARREL_SEED ?? Date.now() % 2 ** 31);

async function create(name: string, agent = 'scripted'): Promise<Talk> {
  return new Talk(carrel, await carrel.client.call('POST /v1/sessions', { body: { project, agent, name } }));
}

/** The text of the agent in its last turn. */
async function said(talk: Talk): Promise<string> {
  const events = await talk.events();
  const last = events.findLast(({ type }) => type === 'turn.ended');
  return events.map((one) => (one.type === 'text' && one.turnId === last?.turnId ? one.data.text : '')).join('');
}

beforeAll(async () => {
  const scripted = { kind: 'acp', command: ['node', '/workspace/agent.mjs'] };
  carrel.write('home/config.yaml', JSON.stringify({ agents: { scripted } }));
  copyFileSync(resolve('test/fixtures/session-agent.mjs'), join(project, 'agent.mjs'));
  await carrel.list();
});
afterAll(() => carrel.dispose());

describe('a hostile agent', () => {
  let talk: Talk;
  let victim: Talk;
  let pendingId = '';

  beforeAll(async () => {
    [talk] = await Promise.all([create('hostile'), create('elsewhere', 'demo')]);
    victim = await Talk.in(carrel, 'hostile', 'scripted');
    await victim.prompt('say early\nask may I?');
    pendingId = (await victim.until('waiting')).pending[0]!.pendingId;
    await talk.say('say early');
  });

  it('cannot write into other sessions, nor forge ids, answers and events', async () => {
    const before = await victim.events();
    await talk.say('forge');
    await talk.say(`steal ${victim.id} ${pendingId} x ${'0'.repeat(64)} null`);
    expect(await said(talk)).toBe('401 401 401 401 ');
    expect(await victim.events()).toEqual(before);
    const events = await talk.events();
    expect(problemsOf(events)).toEqual([]);
    expect(events.filter((one) => one.turnId === 'turn-of-another' || one.type === 'answer')).toEqual([]);
    expect(events).toEqual(await talk.inside());
  });

  it('that sends gigantic messages gets them cut, or is ended', async () => {
    await talk.say('long 1000000');
    const cut = (await talk.events()).findLast(({ type }) => type === 'text')!;
    expect(cut.data).toMatchObject({ truncated: true });
    expect(JSON.stringify(cut).length).toBeLessThan(300_000);
    await talk.say('long 20000000');
    expect((await talk.events()).at(-1)).toMatchObject({ type: 'turn.ended', data: { stopReason: 'interrupted' } });
    await talk.say('say again');
    expect(await said(talk)).toBe('again');
  });

  it('that rewrites all files and kills the agent API changes no event that the daemon has read', async () => {
    const before = await Promise.all([talk.events(), victim.events()]);
    await talk.prompt('rewrite');
    await until(async () => (await talk.show()).turnId === null, 'the turn to be interrupted');
    await talk.say('say still here');
    expect(await said(talk)).toBe('still here');
    for (const [at, one] of [talk, victim].entries()) {
      const events = await one.events();
      expect(events.slice(0, before[at]!.length)).toEqual(before[at]);
      expect(problemsOf(events)).toEqual([]);
      expect(events).toEqual(await one.inside());
    }
    await victim.answer(pendingId, 'yes');
    await victim.until('idle');
  });

  const seen = () => carrel.ok('exec', 'hostile', '--', 'sh', '-c', 'touch /workspace/seen; cat /workspace/seen');

  it('that ends the agent API and listens at its port itself is ended, and a new agent API takes over', async () => {
    const before = await Promise.all([talk.events(), victim.events()]);
    // On a busy machine the new agent API may end the agent before it listens; then the test tries again.
    await until(async () => {
      await talk.prompt('usurp here');
      await until(async () => (await talk.show()).turnId === null, 'the turn to be interrupted');
      await talk.say('say back');
      expect(await said(talk)).toBe('back');
      return (await seen()) !== '';
    }, 'the agent to listen');
    for (const [at, one] of [talk, victim].entries())
      expect((await one.events()).slice(0, before[at]!.length)).toEqual(before[at]);
    expect(await seen()).toMatch(/^listens\n$/);
  });

  it('that hides a program at the port gets no token and forges nothing; the daemon names the program', async () => {
    await carrel.ok('port', 'add', 'hostile', '3002');
    const { token, url } = await carrel.json<NewSessionToken>('session', 'token', 'hostile');
    const status = async () =>
      (await fetch(`${url}/sessions`, { headers: { Authorization: `Bearer ${token}` } })).status;
    expect(await status()).toBe(200);
    const before = await Promise.all([talk.events(), victim.events()]);
    // The prompt is answered once an agent API runs.
    const prompted = talk.prompt('usurp apart').catch(() => {});
    await until(async () => (await seen()).split('listens').length > 2, 'the program to listen');
    expect(await status()).toBe(200);
    const refused = await carrel.run(['session', 'send', 'hostile', '--session', victim.id, 'say x']);
    expect([refused.exitCode, refused.stderr]).toEqual([
      75,
      expect.stringContaining('port 3002 of hostile is held by another program'),
    ]);
    const got = await seen();
    expect(got).toContain('GET /sessions');
    expect(got).not.toContain(token);
    expect(got.split('Bearer ').slice(1)).toEqual([expect.stringContaining(hashOf(token))]);
    for (const [at, one] of [talk, victim].entries())
      expect((await one.events()).slice(0, before[at]!.length)).toEqual(before[at]);
    await carrel.ok('exec', 'hostile', '--', 'pkill', '-9', '-f', 'const server');
    await prompted;
    const send = ['session', 'send', 'hostile', '--session', talk.id, '--wait', 'say again'];
    await until(async () => (await carrel.run(send)).stdout === 'again\n', 'a new agent API');
    expect(await status()).toBe(200);
  });

  it('that floods without end delays no other sandbox, costs the daemon little, and is cancelled', async () => {
    const other = await Talk.in(carrel, 'elsewhere', 'demo');
    const peakBefore = peakMb();
    await talk.prompt('flood');
    await until(async () => (await talk.show()).seq > 2000, 'the flood to arrive');
    for (const word of ['one', 'two', 'three']) {
      await other.say(`say ${word}`);
      expect(await said(other)).toBe(word);
    }
    expect(await talk.show()).toMatchObject({ state: 'working' });
    await carrel.client.call('POST /v1/sandboxes/{name}/sessions/{id}/cancel', { path: talk.path });
    expect((await talk.events()).at(-1)).toMatchObject({ type: 'turn.ended', data: { stopReason: 'cancelled' } });
    expect(peakMb() - peakBefore).toBeLessThan(250);
  });

  /** The most memory that the daemon ever had. */
  function peakMb(): number {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${carrel.daemonPid}/status`, 'utf8'))![1]) / 1024;
  }
});

describe('many sandboxes and clients', () => {
  const [sandboxes, clients] = isRepeated ? [10, 300] : [3, 100];

  it(`${sandboxes} sandboxes with sessions work at the same time`, async () => {
    const names = Array.from({ length: sandboxes }, (_, at) => `many-${at}`);
    const talks = await Promise.all(names.map((name) => create(name)));
    await Promise.all(talks.map((one, at) => one.say(`words 5 2\nsay in ${at}`)));
    for (const [at, one] of talks.entries()) {
      expect(await said(one)).toBe(`0 1 2 3 4 in ${at}`);
      expect(problemsOf(await one.events())).toEqual([]);
    }
  });

  it(`S11 ${clients} clients that disconnect and come back by Last-Event-ID see every event once`, async () => {
    const talk = await Talk.in(carrel, 'many-0', 'scripted');
    await talk.prompt('words 300 5');
    const random = randomFrom(seed);
    const seen = await Promise.all(Array.from({ length: clients }, () => comeAndGo(talk, random)));
    const events = await talk.events();
    expect(events.length).toBeGreaterThan(300);
    for (const one of seen) expect(one).toEqual(events);
  });
});

/** Reads some events, breaks off the connection and continues after the last one, until the turn has ended. */
async function comeAndGo(talk: Talk, random: Random): Promise<SessionEvent[]> {
  const seen: SessionEvent[] = [];
  while (seen.at(-1)?.type !== 'turn.ended') seen.push(...(await some(talk, seen.at(-1)?.seq ?? 0, 20 + random(150))));
  return seen;
}

function some(talk: Talk, after: number, count: number): Promise<SessionEvent[]> {
  const path = `/v1/sandboxes/${talk.sandbox}/sessions/${talk.id}/events`;
  const headers = after === 0 ? {} : { 'Last-Event-ID': String(after) };
  return new Promise((done, failed) => {
    const request = http.get({ socketPath: join(carrel.home, 'carrel.sock'), path, headers, agent: false });
    let text = '';
    request.on('error', failed);
    request.on('response', (response) => {
      response.on('data', (chunk: Buffer) => {
        text = `${text}${chunk}`;
        const lines = text.slice(0, text.lastIndexOf('\n\n') + 1).matchAll(/^data: (.*)$/gm);
        const events = [...lines].slice(0, count).map(([, line]) => JSON.parse(line!) as SessionEvent);
        if (events.length < count && events.at(-1)?.type !== 'turn.ended') return;
        request.destroy();
        done(events);
      });
    });
  });
}
