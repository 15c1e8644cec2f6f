import { expect, test } from 'vitest';
import { startFaultFrom } from '../../../client/connect/start-daemon.ts';
import { Output } from '../../../client/output/output.ts';
import { viewsOf } from '../../grant-table.ts';
import type { EngineView } from '../../installation/api/engine.ts';
import { line } from '../../installation/cli/audit.ts';
import { findings } from '../../installation/cli/doctor.ts';
import { engineListing } from '../../installation/cli/engine-ls.ts';
import type { SandboxView } from '../api.ts';
import { usage } from './commands.ts';
import { listing } from './ls.ts';
import { description } from './show.ts';
import { warnUnseen } from './state.ts';

const out = new Output(false, { write: () => {} });
const now = Date.parse('2026-01-01T00:03:00Z');
const sandbox: SandboxView = {
  ...{ id: '0123456789abcdef', name: 'a', project: null, user: 'u', engine: 'local', runtime: 'crun', state: 'failed' },
  ...{
    exitCode: 137,
    signal: 'SIGKILL',
    reason: 'oom',
    terminal: false,
    command: ['sh', '-c', '\u001b[2J'],
    mode: 'none',
    workspace: null,
    ...viewsOf({}),
  },
  ...{
    createdAt: '2026-01-01T00:00:00Z',
    kept: false,
    startedAt: null,
    finishedAt: null,
    credentials: [],
    services: [],
    network: { allow: [], ports: [], trouble: null },
    image: null,
    unseen: null,
  },
  limits: { cpus: 2, memoryBytes: 2 ** 32, swapBytes: 2 ** 33, pids: 512, diskBytes: 2 ** 33, advisory: ['diskBytes'] },
  mounts: [{ target: '/tmp', source: null, readonly: false }],
  labels: { 'k\n': '\u001b' },
};

test('ls shows state, command, age and exit of each sandbox', () => {
  const idle: SandboxView = { ...sandbox, name: 'idle', state: 'running', exitCode: null, reason: null, command: [] };
  expect(listing([sandbox, idle], out, now)).toEqual([
    'NAME  STATE    PROJECT  COMMAND            AGE  EXIT',
    "a     failed   -        sh -c '\\u001b[2J'  3m   137 oom",
    'idle  running  -        -                  3m   -',
  ]);
});

test('a warning names sandboxes whose engine does not answer', () => {
  const lines: string[] = [];
  const words = new Output(false, { write: () => {} }, { write: (text) => lines.push(`${text}`) });
  const on = (name: string, unseen: string | null) => ({ ...sandbox, name, unseen });
  warnUnseen(words, [on('a', 'gone\u001b'), on('b', null), on('c', 'gone\u001b')]);
  expect(lines).toEqual(['carrel: a, c as last seen: gone\\u001b\n']);
});

test('ls --size adds the size, or - if it is not known', () => {
  expect(
    listing(
      [
        { ...sandbox, sizeBytes: 2 ** 20 },
        { ...sandbox, sizeBytes: null },
      ],
      out,
      now,
    ),
  ).toEqual([
    'NAME  STATE   SIZE  PROJECT  COMMAND            AGE  EXIT',
    "a     failed  1.0M  -        sh -c '\\u001b[2J'  3m   137 oom",
    "a     failed  -     -        sh -c '\\u001b[2J'  3m   137 oom",
  ]);
});

test('ls --all-users adds the user', () => {
  expect(listing([sandbox, { ...sandbox, user: 'v\n' }], out, now, true)).toEqual([
    'USER  NAME  STATE   PROJECT  COMMAND            AGE  EXIT',
    "u     a     failed  -        sh -c '\\u001b[2J'  3m   137 oom",
    "v\\n   a     failed  -        sh -c '\\u001b[2J'  3m   137 oom",
  ]);
});

test('the description shows the kind and base of the working copy', () => {
  const view: SandboxView = { ...sandbox, workspace: { kind: 'overlay', base: 'frozen' } };
  expect(description(view, out, now)).toContain('workspace  overlay, base frozen');
});

test('the description lists credentials', () => {
  const view: SandboxView = { ...sandbox, credentials: ['claude', 'gh'] };
  expect(description(view, out, now)).toEqual(expect.arrayContaining(['credentials  claude', '             gh']));
});

test('the description shows limits that are not enforced, and no raw control character', () => {
  const lines = description(sandbox, out, now);
  expect(lines).toContain('state    failed, exit code 137, SIGKILL, oom');
  expect(lines.find((line) => line.startsWith('limits'))).toContain('8.0G disk (not enforced)');
  expect(lines).toContain('labels   k\\n=\\u001b');
  expect(lines.join('')).not.toMatch(/[\u0000-\u001f]/);
});

test('usage marks limits that are not enforced', () => {
  const one = { name: 'a', cpuSeconds: 1.26, memoryBytes: 2 ** 20, memoryLimitBytes: 2 ** 32, cpus: 2 };
  expect(usage([{ ...one, pids: 3, pidsLimit: 512, advisory: ['pids'] }])).toEqual([
    'NAME  CPU TIME  CPUS  MEMORY       PIDS',
    'a     1.3s      2     1.0M / 4.0G  3 / 512*',
    '* not enforced on this machine',
  ]);
});

test('the last lines of a daemon become its Fault', () => {
  const log = 'noise\ncarrel-fault: {"code":"unsupported","message":"no crun","hint":"apt install crun"}\n';
  expect(startFaultFrom(log, 'exit code 3').toJSON()).toEqual({
    ...{ code: 'unsupported', message: 'no crun', hint: 'apt install crun' },
  });
  expect(startFaultFrom('carrel-fault: {"co', 'SIGKILL').toJSON()).toMatchObject({ code: 'internal' });
  expect(startFaultFrom('', 'exit code 7').toJSON()).toMatchObject({ code: 'exhausted', hint: expect.any(String) });
  expect(startFaultFrom('a\nb\n', 'exit code 1').message).toBe('the daemon did not start (exit code 1)\na\nb');
});

test('engine ls shows each engine, with reason and hint below an unusable one', () => {
  const engines: EngineView[] = [
    {
      ...{ name: 'local', usable: true, version: 'conmon 2.1.6', runtime: 'crun 1.8.1', runtimes: ['crun'] },
      ...{ at: null, reason: null, hint: null },
    },
    {
      ...{ name: 'docker', usable: false, version: null, runtime: null, runtimes: [] },
      ...{ at: '/run/docker.sock', reason: 'no answer\u001b', hint: 'Start it.' },
    },
  ];
  expect(engineListing(engines, out)).toEqual([
    'ENGINE  USABLE  VERSION       RUNTIME     SOCKET',
    'local   yes     conmon 2.1.6  crun 1.8.1  -',
    'docker  no      -             -           /run/docker.sock',
    '  no answer\\u001b',
    '  hint: Start it.',
  ]);
});

const narrow = new Output(false, { write: () => {}, isTTY: true, columns: 80 }, undefined, { NO_COLOR: '1' });

test('engine ls wraps a long socket path, and the reason follows below it', () => {
  const at = `/tmp/${'folder-'.repeat(12)}/docker.sock`;
  const refused = { name: 'docker' as const, usable: false, version: null, runtime: null, runtimes: [] };
  const lines = engineListing([{ ...refused, at, reason: 'no answer', hint: 'Start it.' }], narrow);
  expect(lines.length).toBeGreaterThan(4);
  expect(lines.slice(-2)).toEqual(['  no answer', '  hint: Start it.']);
});

test('doctor in 80 columns shows each hint below its own row', () => {
  const rows = [
    { name: 'syscalls', level: 'ok', detail: 'refused '.repeat(20).trim(), hint: null },
    { name: 'git', level: 'failure', detail: 'git is missing', hint: 'apt install git' },
    { name: 'home', level: 'ok', detail: 'closed to others', hint: null },
  ] as const;
  expect(findings(rows, narrow).slice(-4)).toEqual([
    expect.stringMatching(/^ +refused( refused)*$/),
    '✗  git       git is missing',
    '   hint: apt install git',
    '✓  home      closed to others',
  ]);
});

test('an entry of the audit log is one line without control characters', () => {
  const entry = { at: '2026-01-01T00:00:00Z', user: 'ann', as: 'bob', verb: 'sandbox.stop', outcome: 'ok' };
  const targets = [{ name: 'a\n' }, { name: 'b' }];
  expect(line({ ...entry, targets, peer: { uid: 0, pid: 7 }, detail: { n: 1, s: 'x' } })).toBe(
    '2026-01-01T00:00:00Z ann(as bob) sandbox.stop a\\n,b ok uid=0 pid=7 n=1 s=x',
  );
  expect(line({ ...entry, as: null, user: null, targets: [], peer: null })).toBe(
    '2026-01-01T00:00:00Z - sandbox.stop - ok -',
  );
});
