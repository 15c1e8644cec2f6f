/** Each program of the build starts: it is whole, and finds what it loads. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { programFile } from '../../src/lib/file/package.ts';
import { namespaceArgs } from '../../src/lib/sys/namespace.ts';
import { runEnv } from '../harness/run.ts';

const { programs } = (await import(resolve('scripts/programs.mjs'))) as { programs: readonly { name: string }[] };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-programs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Arguments, and the output that only the program itself prints. */
type Start = readonly [args: readonly string[], output: RegExp | '', exitCode?: number];

/** The programs that are processes, started without input. */
const starts: Readonly<Record<string, Start>> = {
  carrel: [[], ''],
  'daemon-enter': [['1', process.execPath, '--version'], /^v\d/],
  daemon: [[], /^carrel-fault: .*CARREL_HOME must be an absolute path/, 70],
  // It serves until it is ended.
  'hub-container': [[], /^carrel-hub: ready for no project$/m],
  proxy: [[], /Error: CARREL_HOME must be an absolute path/, 1],
  'chroma-broker': [[], ''],
  'carrel-adapter': [[], /^carrel-adapter: the settings are not valid/, 2],
  'carrel-agent': [['{}'], /./, 1],
  'carrel-agent-api': [[], /^carrel-agent-api: usage:/, 2],
  'carrel-configure': [[], ''],
  'carrel-memory': [[], ''],
  'carrel-memory-bank': [[], ''],
  'carrel-room': [['help'], /carrel-room post ROOM/, 2],
  'carrel-spoke': [[], ''],
  'demo-acp': [[], ''],
  'demo-agent': [[], /JSON/, 1],
  'node-proxy': [[], ''],
};
const threads = ['job-thread', 'room-thread', 'memory-thread', 'embedding-thread', 'bank-thread', 'namespace-thread'];

it('the two lists here have every program', () => {
  expect([...Object.keys(starts), ...threads].sort()).toEqual(programs.map(({ name }) => name).sort());
});

it.each(Object.entries(starts))('%s', async (name, [args, output, exitCode = 0]) => {
  const file = programFile(name, name === 'node-proxy' ? 'cjs' : 'js');
  const [program, ...inNamespace] = namespaceArgs(process.getuid!());
  const env = { PATH: process.env.PATH, HOME: folder, ...runEnv(), CARREL_HOME: 'relative' };
  const child = spawn(program!, [...inNamespace, process.execPath, file, ...args], { cwd: folder, env });
  child.stdin.end();
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => said.push(chunk));
  if (name === 'hub-container')
    child.stdout.on('data', (chunk: Buffer) => chunk.includes('ready for') && child.kill('SIGTERM'));
  const [code] = await once(child, 'close');
  const text = Buffer.concat(said).toString('utf8');
  expect(text).not.toMatch(/Cannot find|ReferenceError|is not a function/);
  if (output === '') expect(text).toBe('');
  else expect(text).toMatch(output);
  expect(code).toBe(exitCode);
});

it.each(threads)('%s', async (name) => {
  const workerData = { scratch: join(folder, 'scratch'), installation: 'programs', cancel: new SharedArrayBuffer(4) };
  const loading = `import(${JSON.stringify(programFile(name))}).then(
    () => require('node:worker_threads').parentPort.postMessage('loaded'),
    (error) => require('node:worker_threads').parentPort.postMessage(error.stack));`;
  const worker = new Worker(loading, { eval: true, workerData, trackUnmanagedFds: false });
  expect(await once(worker, 'message')).toEqual(['loaded']);
  await worker.terminate();
});
