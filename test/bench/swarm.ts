/** Swarms: the time that Carrel adds to a story, how quickly an adapter answers, and the cost of saving the state. */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { Client } from '../../src/client/client.ts';
import { encodeFrame, FrameReader } from '../../src/lib/wire/stream.ts';
import { encodeMessage, MessageReader } from '../../src/noun/swarm/model/message-line.ts';
import { story, taskText } from '../fixtures/task-file.ts';
import { Installation, until } from '../harness/installation.ts';
import { Repository } from '../harness/repository.ts';
import { atMost, type Row, row } from './report.ts';
import { elapsed, summarize } from './sample.ts';
import type { Bench } from './sections.ts';
import { entry, stateRows } from './swarm-state.ts';

const stories = 10;
const targets = { storyMs: 150, tripMs: 2, statusMs: 200 };

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

/** Runs a task file of stories, each after the one before, with an agent that does nothing. */
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

/**
 * Each round repeats the request and waits until the adapter answers with the status of its stories. The time includes
 * the client's way to the daemon.
 */
async function tripRows(carrel: Installation, rounds: number): Promise<Row[]> {
  const { client } = carrel;
  const project = projectOf(carrel, 'trip', 1);
  await carrel.ok('swarm', 'run', '--all', '--agent', 'waiting', '--detach', '--project', project);
  const show = () => client.call('GET /v1/swarm/show', { query: { project } });
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
  const socket = await client.upgrade('GET /v1/sandboxes/{name}/attach', { name: containerName });
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
  await client.call('POST /v1/swarm/init', { body: { project } });
  for (let n = 0; n < count; n += 1) await client.call('POST /v1/swarm/add', { body: { project, ...entry(n) } });
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await elapsed(() => shown(client, project)));
  const summary = summarize(times);
  return [row(`swarm status of ${count} task files`, summary, [atMost(summary, targets.statusMs)])];
}

function shown(client: Client, project: string): Promise<unknown> {
  return client.call('GET /v1/swarm/show', { query: { project } });
}
