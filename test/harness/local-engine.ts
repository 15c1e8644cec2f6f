/** A local engine for a test, with a folder that its sandboxes share with the test. */
import { appendFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Launch } from '../../src/kernel/engine/engine.ts';
import { openLocalEngine } from '../../src/kernel/engine/local/local.ts';
import { defaultLimits } from '../../src/model/limits.ts';
import { type Commands, type EngineSetup, floodLine } from '../conformance/engine/setup.ts';
import { sampleLaunch } from '../fixtures/launch.ts';
import { installationId } from './run.ts';

const shared = '/shared';

export async function localSetup(runtime: string): Promise<EngineSetup> {
  const folder = await mkdtemp(join(tmpdir(), 'carrel-engine-'));
  await mkdir(join(folder, 'shared'));
  const installation = installationId();
  const reopen = async () => openLocalEngine({ folder: join(folder, 'engine'), installation });
  return {
    engine: await reopen(),
    reopen,
    launch: (overrides) => ({ ...launch(folder, runtime), ...overrides }),
    shared: {
      touch: (name) => appendFile(join(folder, 'shared', name), ''),
      lines: async (name) =>
        (await readFile(join(folder, 'shared', name), 'utf8').catch(() => '')).split('\n').length - 1,
    },
    commands,
    cleanup: () => rm(folder, { recursive: true }),
  };
}

function launch(folder: string, runtime: string): Launch {
  return sampleLaunch({
    runtime,
    mounts: [{ kind: 'bind', source: join(folder, 'shared'), target: shared, readonly: false, own: true }],
    env: { PATH: '/usr/bin:/bin' },
    limits: { ...defaultLimits, memoryBytes: 256 * 1024 ** 2 },
  });
}

function sh(script: string, ...args: string[]): string[] {
  return ['/bin/sh', '-c', script, 'sh', ...args];
}

const flood = `yes ${floodLine} | head -c`;

const commands: Commands = {
  print: (text) => ['printf', '%s', text],
  printBoth: (stdout, stderr) => sh('printf %s "$1"; printf %s "$2" >&2', stdout, stderr),
  printEnv: ['env'],
  printFolder: ['pwd'],
  copyStdin: ['cat'],
  flood: (bytes) => sh(`${flood} "$1"`, String(bytes)),
  exit: (code) => sh('exit "$1"', String(code)),
  dieBy: (signal) => sh('kill -s "$1" $$', signal.replace('SIG', '')),
  missing: ['/no/such/program'],
  wait: sh('echo ready; exec sleep infinity'),
  exitOnTerm: (code) =>
    sh('trap "exit $1" TERM; echo ready; while :; do sleep infinity >/dev/null 2>&1 & wait; done', String(code)),
  ignoreTerm: sh('trap "" TERM; echo ready; while :; do sleep infinity; done'),
  count: (file, code) => sh('echo >> "$1"; exit "$2"', `${shared}/${file}`, String(code)),
  countAndWait: (file) => sh('echo >> "$1"; echo ready; exec sleep infinity', `${shared}/${file}`),
  afterFile: ({ go, bytes, done, code }) =>
    sh(
      `echo ready; until [ -e "$1" ]; do sleep 0.02; done; ${flood} "$2"; echo >> "$3"; exit "$4"`,
      `${shared}/${go}`,
      String(bytes),
      `${shared}/${done}`,
      String(code),
    ),
  tick: (file) => sh('echo ready; while :; do echo >> "$1"; sleep 0.01; done', `${shared}/${file}`),
  tellTerminal: sh('if [ -t 0 ] && [ -t 1 ]; then echo terminal; else echo pipe; fi'),
  tellSize: sh('trap "stty size" WINCH; stty size; echo ready; while :; do sleep 0.05; done'),
};
