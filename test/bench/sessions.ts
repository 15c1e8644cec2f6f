/**
 * Sessions through the daemon: the time that Carrel adds to an agent, from a prompt to its first event and from an
 * event to a client that follows.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { SessionEvent } from '../../src/noun/session/model/session.ts';
import { Installation } from '../harness/installation.ts';
import { Talk } from '../harness/session.ts';
import type { Cleanup } from './cleanup.ts';
import { residentOf } from './memory.ts';
import { atMost, type Row, row } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const target = { firstMs: 5, replayMs: 300, deliveryMs: 3, sessionMb: 5 };
const replayed = 10_000;
const stamps = { count: 400, everyMs: 5 };
const idleSessions = 100;

/** A small agent, so that a hundred of them fit: it opens a session and waits. */
const idleAgent = [
  'n=0; while read -r line; do n=$((n+1))',
  'printf \'{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"sessionId":"s"}}\\n\' $n; done',
].join('; ');

export async function measureSessions(bench: Bench): Promise<Row[]> {
  const carrel = await openDaemon(bench.cleanup);
  const talk = await create(carrel, 'talk', 'stamper');
  return [
    ...(await measureFirst(bench, carrel, talk)),
    await measureDelivery(talk),
    await measureReplay(bench, talk),
    ...(await measureIdle(carrel)),
  ];
}

async function openDaemon(cleanup: Cleanup): Promise<Installation> {
  const carrel = new Installation();
  cleanup.add('the daemon with sessions', () => carrel.dispose());
  const agents = {
    stamper: { kind: 'acp', command: ['node', 'agent.mjs'] },
    idle: { kind: 'acp', command: ['sh', '-c', idleAgent] },
  };
  carrel.write('home/config.yaml', JSON.stringify({ agents }));
  copyFileSync(resolve('test/fixtures/session-agent.mjs'), join(carrel.folder('project'), 'agent.mjs'));
  await carrel.ok('up', '--detach');
  return carrel;
}

async function create(carrel: Installation, name: string, agent: string): Promise<Talk> {
  const body = { project: join(carrel.home, '../project'), agent, name };
  return new Talk(carrel, await carrel.client.call('POST /v1/sessions', { body }));
}

async function measureFirst({ options, signal }: Bench, carrel: Installation, talk: Talk): Promise<Row[]> {
  const alone = new LoneAgent(join(carrel.home, '../project'));
  const followed = new Followed(talk);
  try {
    await alone.open();
    await talk.say('say ready');
    const through = async () => {
      const first = followed.next(({ type }) => type === 'text');
      const from = performance.now();
      void talk.prompt('say x');
      await first;
      const ms = performance.now() - from;
      await talk.until('idle');
      return ms;
    };
    const measures = { flush: () => flushMs(carrel.home), alone: () => elapsed(() => alone.first('say x')), through };
    const taken = await interleave<keyof typeof measures, number>(options.rounds * 5, measures, signal);
    const own = summarize(taken.alone);
    const added = summarize(taken.through.map((ms) => ms - own.p50));
    return [
      row('a line that is flushed to the disk', summarize(taken.flush)),
      row('prompt → first event, the agent alone', own),
      row('  what Carrel adds', added, [atMost(added, target.firstMs)]),
    ];
  } finally {
    alone.close();
    followed.close();
  }
}

async function measureDelivery(talk: Talk): Promise<Row> {
  const { count, everyMs } = stamps;
  const times: number[] = [];
  const followed = new Followed(talk);
  const ended = followed.next((event) => {
    if (event.type === 'text') times.push(Number(process.hrtime.bigint() - BigInt(event.data.text)) / 1e6);
    return event.type === 'turn.ended' && times.length > 0;
  });
  await talk.prompt(`stamps ${count} ${everyMs}`);
  await ended;
  followed.close();
  const summary = summarize(times);
  return row('event of the agent → client that follows', summary, [atMost(summary, target.deliveryMs)]);
}

async function measureReplay({ options }: Bench, talk: Talk): Promise<Row> {
  await talk.say(`events ${replayed}`);
  const times: number[] = [];
  for (let round = 0; round < options.rounds; round += 1) times.push(await elapsed(() => talk.events()));
  const summary = summarize(times);
  return row(`replay of ${replayed} events`, summary, [atMost(summary, target.replayMs)]);
}

/** The memory of the daemon and the agent API together, without the agents. */
async function measureIdle(carrel: Installation): Promise<Row[]> {
  const { sandbox } = await create(carrel, 'idle', 'idle');
  const before = await residentMb(carrel, sandbox);
  const path = { name: sandbox };
  for (let made = 0; made < idleSessions - 1; made += 1)
    await carrel.client.call('POST /v1/sandboxes/{name}/sessions', { path, body: { agent: 'idle' } });
  const summary = summarize([((await residentMb(carrel, sandbox)) - before) / (idleSessions - 1)]);
  return [
    { ...row(`each of ${idleSessions} idle sessions`, summary, [atMost(summary, target.sessionMb)]), unit: 'MB' },
  ];
}

async function residentMb(carrel: Installation, sandbox: string): Promise<number> {
  const find = 'cat /proc/$(pgrep -f "carrel-agent-api.*[s]erve")/smaps_rollup';
  const rollup = await carrel.ok('exec', sandbox, '--', 'sh', '-c', find);
  return Number(/^Pss: +(\d+) kB$/m.exec(rollup)![1]) / 1024 + residentOf(carrel.daemonPid).pssMb;
}

/**
 * The time of one flush. Between a prompt and its first event are four: prompt, start of the turn, event, and its copy.
 */
async function flushMs(folder: string): Promise<number> {
  const file = await open(join(folder, 'flushed'), 'a');
  try {
    await file.write('x'.repeat(200));
    return await elapsed(() => file.datasync());
  } finally {
    await file.close();
  }
}

/** The same agent without Carrel. */
class LoneAgent {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  #id = 0;

  constructor(cwd: string) {
    this.#child = spawn(process.execPath, ['agent.mjs'], { cwd, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]();
  }

  async open(): Promise<void> {
    for (const method of ['initialize', 'session/new']) {
      this.#ask(method, {});
      await this.#lines.next();
    }
  }

  /** Waits for the first update of the turn; the response is read later. */
  async first(text: string): Promise<void> {
    this.#ask('session/prompt', { sessionId: 'mine', prompt: [{ type: 'text', text }] });
    await this.#lines.next();
    void this.#lines.next();
  }

  close(): void {
    this.#child.kill();
  }

  #ask(method: string, params: object): void {
    this.#id += 1;
    this.#child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', id: this.#id, method, params })}\n`);
  }
}

/** A client that follows a session from its end. */
class Followed {
  readonly #stop = new AbortController();
  #look: (event: SessionEvent) => void = () => {};

  constructor(talk: Talk) {
    void this.#follow(talk).catch(() => {});
  }

  /** Resolves with the first event that matches. */
  next(isIt: (event: SessionEvent) => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#look = (event) => {
        if (isIt(event)) resolve();
      };
    });
  }

  close(): void {
    this.#stop.abort();
  }

  async #follow(talk: Talk): Promise<void> {
    const { seq } = await talk.show();
    for await (const event of talk.follow(seq, this.#stop.signal)) this.#look(event);
  }
}
