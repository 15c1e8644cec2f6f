/** How the daemon starts the agent API and connects to it. */
import { PassThrough, Readable } from 'node:stream';
import { beforeEach, expect, test } from 'vitest';
import { createMemoryStore } from '../../../../test/fakes/store/memory.ts';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import type { EngineOf, Process } from '../../../kernel/engine/engine.ts';
import { notStarted } from '../../../kernel/engine/exit.ts';
import { Fault } from '../../../model/fault.ts';
import { initialStatus, type Sandbox } from '../../sandbox/model.ts';
import { AgentPrograms, type AgentProgramsParts } from './agent-programs.ts';

const box: Sandbox = { id: '1', name: 'box', createdAt: '', spec: sampleSpec, status: initialStatus };
/** No process has this id. */
const pid = 2 ** 22 + 1;

let exitCode: number;
let stdin: PassThrough;
let commands: (readonly string[])[];
let opened: ((failed: () => void) => ReturnType<AgentProgramsParts['openSockets']>)[];
let programs: AgentPrograms;
beforeEach(() => {
  [exitCode, stdin, commands, opened] = [0, new PassThrough(), [], []];
  programs = new AgentPrograms({
    store: createMemoryStore(),
    engineOf: (() => ({ network: async () => ({ pid, startedAt: '' }) })) as unknown as EngineOf,
    settings: { of: () => ({ version: 'v2' }) as never, tokenOf: () => 'token' },
    openSockets: (failed) => opened.shift()!(failed),
    startIn: async (_, command) => {
      commands.push(command);
      const [stdout, stderr] = [Readable.from([]), Readable.from([Buffer.from('no space left\n')])];
      const exited = new Promise((resolve) => stderr.on('end', () => resolve({ exitCode })));
      return { stdin, stdout, stderr, exited } as unknown as Process;
    },
  });
});

test('the program gets its settings at stdin', async () => {
  await programs.start(box);
  expect(commands).toEqual([['/opt/carrel/bin/carrel-agent-api', 'start']]);
  expect(JSON.parse(String(stdin.read()))).toEqual({ version: 'v2' });
});

test('a start that fails is reported with what the program printed', async () => {
  exitCode = 1;
  await expect(programs.start(box)).rejects.toMatchObject({
    code: 'unavailable',
    message: 'the agent API of box could not be started: no space left',
  });
});

test('a sandbox without the programs is to be started again', async () => {
  exitCode = notStarted;
  await expect(programs.start(box)).rejects.toMatchObject({ code: 'conflict' });
});

test('a program with the version of these settings is current', () => {
  expect(programs.isCurrent(box, { settings: 'v2' })).toBe(true);
  for (const health of [{ settings: 'v1' }, {}, null]) expect(programs.isCurrent(box, health)).toBe(false);
});

test('a thread that could not start, or has ended, is replaced by the next connection', async () => {
  const refuses = {
    connect: async () => {
      throw new Fault('unavailable', 'refused');
    },
  };
  const call = () => programs.clientOf(box).call({ method: 'GET', path: '/health' });
  let fail = () => {};
  opened = [
    async () => {
      throw new Fault('exhausted', 'no thread');
    },
    async (failed) => {
      fail = failed;
      return refuses;
    },
    async () => refuses,
  ];
  await expect(call()).rejects.toThrow('no thread');
  await expect(call()).rejects.toThrow('refused');
  await expect(call()).rejects.toThrow('refused');
  expect(opened).toHaveLength(1);
  fail();
  await expect(call()).rejects.toThrow('refused');
  expect(opened).toHaveLength(0);
});
