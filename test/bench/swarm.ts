/** Swarms: what our path adds to a story, how quickly an adapter answers, and what keeping the state costs. */
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Client } from '../../src/api/client.ts';
import { encodeFrame, FrameReader } from '../../src/api/stream.ts';
import { swarmRecords } from '../../src/daemon/swarm-records.ts';
import { writeWhole } from '../../src/lib/file.ts';
import { tryLock } from '../../src/lib/sys.ts';
import { encodeMessage, MessageReader } from '../../src/model/message-line.ts';
import { exportOf, type Swarm } from '../../src/model/swarm.ts';
import { openSqliteStore } from '../../src/store/sqlite.ts';
import { SwarmState } from '../../src/swarm/state.ts';
import { story, taskText } from '../fixtures/task-file.ts';
import { Installation, until } from '../harness/installation.ts';
import { Repository } from '../harness/repository.ts';
import { atMost, type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const stories = 10;
const targets = { storyMs: 150, tripMs: 2, statusMs: 200, update: 1 / 50 };

export async function measureSwarm({ options, cleanup, signal }: Bench): Promise<Row[]> {
  const carrel = new Installation();
  cleanup.add('the swarm', () => carrel.dispose());
  const agents = { idle: ['true'], waiting: ['sleep', '1000'] };
  const specs = Object.entries(agents).map(
    ([name, argv]) => `  ${name}: { kind: command, command: ${JSON.stringify(argv)} }`,
  );
  appendFileSync(join(carrel.home, 'config.yaml'), `agents:\n${specs.join('\n')}\n`);
  const rows = [...(await storyRows(carrel, options.heavyRounds + 2)), ...(await tripRows(carrel, options.rounds * 5))];
  return [
    ...rows,
    ...(await statusRows(carrel, options.records, options.rounds)),
    ...(await stateRows(options.records, options.rounds, signal)),
  ];
}

/** One task file of stories, each after the one before, with an agent that does nothing. */
async function storyRows(carrel: Installation, rounds: number): Promise<Row[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const project = projectOf(carrel, `stories-${round}`, stories);
    const ms = await elapsed(() => carrel.ok('swarm', 'run', '--all', '--agent', 'idle', '--project', project));
    times.push(ms / stories);
    await carrel.ok('swarm', 'cleanup', '--project', project);
  }
  const summary = summarize(times);
  return [row(`swarm run, a story of ${stories}, sandbox included`, summary, [atMost(summary, targets.storyMs)])];
}

function projectOf(carrel: Installation, name: string, count: number): string {
  const { path } = new Repository(carrel.folder(name), { a: 'a\n', '.gitignore': '.carrel\n' });
  const all = Array.from({ length: count }, (_, index) =>
    story(index, { dependsOn: index === 0 ? [] : [`US-${String(index - 1).padStart(3, '0')}`] }),
  );
  const file = join(path, `.carrel/tasks/2026-01-31-${name}-tasks.json`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, taskText(all));
  return path;
}

/** The request said again, until the adapter has told how everything stands. Our own way to the daemon is included. */
async function tripRows(carrel: Installation, rounds: number): Promise<Row[]> {
  const { client } = carrel;
  const project = projectOf(carrel, 'trip', 1);
  await carrel.ok('swarm', 'run', '--all', '--agent', 'waiting', '--detach', '--project', project);
  const show = () => client.call('showSwarm', { query: { project } });
  await until(async () => (await show()).containers[0]?.stories[0]?.status === 'in_progress', 'the story', 60_000);
  const { swarmId, containers } = await show();
  const { containerId, containerName, taskFilePath, branchName } = containers[0]!;
  const timestamp = new Date().toISOString();
  const request = encodeMessage({
    type: 'task-request',
    timestamp,
    swarmId,
    containerId,
    payload: { taskFilePath, branchName },
  });
  const socket = await client.upgrade('attachSandbox', { name: containerName });
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await elapsed(() => trip(socket, request)));
  socket.destroy();
  await carrel.ok('swarm', 'stop', '--project', project);
  const summary = summarize(times);
  return [row('message to an adapter and back, through the API', summary, [atMost(summary, targets.tripMs)])];
}

function trip(socket: Socket, request: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const [frames, messages] = [new FrameReader(), new MessageReader()];
    const take = (chunk: Buffer) => {
      for (const { payload } of frames.push(chunk)) {
        if ([...messages.push(payload)].length === 0) continue;
        socket.off('data', take);
        resolve();
      }
    };
    socket.on('data', take);
    socket.write(encodeFrame('stdin', request));
  });
}

async function statusRows(carrel: Installation, count: number, rounds: number): Promise<Row[]> {
  const project = projectOf(carrel, 'status', 1);
  const { client } = carrel;
  await client.call('initSwarm', { body: { project } });
  for (let n = 0; n < count; n += 1) await client.call('addContainer', { body: { project, ...entry(n) } });
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await elapsed(() => shown(client, project)));
  const summary = summarize(times);
  return [row(`swarm status of ${count} task files`, summary, [atMost(summary, targets.statusMs)])];
}

function shown(client: Client, project: string): Promise<unknown> {
  return client.call('showSwarm', { query: { project } });
}

function entry(n: number) {
  const taskFilePath = `.carrel/tasks/2026-01-31-feature-${n}-tasks.json`;
  return {
    containerId: n.toString(16).padStart(12, '0'),
    containerName: `c-${n}`,
    taskFilePath,
    branchName: `feat/${n}`,
  };
}

/** One container's progress: a row in the store, beside a JSON file with all of them that is locked, read and rewritten. */
async function stateRows(count: number, rounds: number, signal: AbortSignal): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-bench-state-'));
  const store = openSqliteStore(join(folder, 'carrel.db'));
  try {
    const state = new SwarmState('ann', swarmRecords(store), () => new Date().toISOString());
    const swarm = state.init('/p', false);
    for (let n = 0; n < count; n += 1) state.add(swarm, entry(n));
    const file = join(folder, 'swarm-state.json');
    writeFileSync(file, JSON.stringify(exportOf(swarm, state.containers(swarm)), null, 2));
    let turn = 0;
    const progress = (lazy: boolean) => async () => {
      const container = state.container(swarm, `c-${turn++ % count}`);
      const storyProgress = { ...container.storyProgress, completed: turn };
      state.change(container, { storyProgress }, 'swarm.progress', lazy);
    };
    const measures = {
      file: () => elapsed(async () => rewrite(file, turn++ % count)),
      progress: () => elapsed(progress(true)),
      durable: () => elapsed(progress(false)),
    };
    const taken = await interleave(rounds * 5, measures, signal);
    const [peer, ours, durable] = [summarize(taken.file), summarize(taken.progress), summarize(taken.durable)];
    const what = 'lock, read and rewrite';
    return [
      row(`${what} a JSON file of ${count} entries`, peer),
      row('state update in the store', ours, timesPeer(ours, what, peer, targets.update)),
      row('state update in the store, synced to disk', durable, timesPeer(durable, what, peer)),
    ];
  } finally {
    store.close();
    rmSync(folder, { recursive: true });
  }
}

function rewrite(file: string, at: number): void {
  const lock = openSync(`${file}.lock`, 'w');
  try {
    if (!tryLock(lock)) throw new Error('somebody else has the lock');
    const state = JSON.parse(readFileSync(file, 'utf8')) as Swarm & { containers: { storyProgress: object }[] };
    state.containers[at]!.storyProgress = { ...state.containers[at]!.storyProgress, completed: at };
    writeWhole(file, JSON.stringify(state, null, 2));
  } finally {
    closeSync(lock);
  }
}
