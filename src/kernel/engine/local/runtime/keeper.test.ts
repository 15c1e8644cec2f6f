import { PassThrough } from 'node:stream';
import { describe, expect, it, test } from 'vitest';
import type { StartedProgram } from '../../../../lib/process/start-program.ts';
import { Fault } from '../../../../model/fault.ts';
import { type KeeperOptions, keeperArgs, keeperMessages, runtimeFault } from './keeper.ts';

const options: KeeperOptions = {
  keeperPath: '/usr/bin/conmon',
  runtimePath: '/usr/bin/crun',
  runtimeArgs: ['--root', '/state'],
  id: 'abc',
  bundle: '/run/abc',
  exits: '/exit',
  log: { path: '/run/abc/log', maxBytes: 1000 },
  keepStdinOpen: false,
  terminal: false,
};

describe('the arguments of conmon', () => {
  const optionOf = (args: readonly string[], name: string) => args[args.indexOf(name) + 1];

  it('name the places of its records, by which the next daemon finds it', () => {
    const args = keeperArgs(options);
    expect(optionOf(args, '--container-pidfile')).toBe('/run/abc/pid');
    expect(optionOf(args, '--conmon-pidfile')).toBe('/run/abc/keeper.pid');
    expect(optionOf(args, '--exit-dir')).toBe('/exit');
    expect(optionOf(args, '--persist-dir')).toBe('/run/abc');
    expect(optionOf(args, '--cid')).toBe('abc');
  });

  it('have each argument of the runtime in one word', () => {
    expect(keeperArgs(options)).toEqual(expect.arrayContaining(['--runtime-arg=--root', '--runtime-arg=/state']));
  });

  it('bound the log, or switch it off', () => {
    expect(optionOf(keeperArgs(options), '--log-size-max')).toBe('1000');
    expect(optionOf(keeperArgs(options), '--log-path')).toBe('k8s-file:/run/abc/log');
    const without = keeperArgs({ ...options, log: null });
    expect(optionOf(without, '--log-path')).toBe('off');
    expect(without).not.toContain('--log-size-max');
  });

  it('ask for an input always, and for a terminal or an input that stays open only if requested', () => {
    const optional = ['--leave-stdin-open', '--terminal'];
    expect(keeperArgs(options)).toContain('--stdin');
    expect(keeperArgs(options).filter((arg) => optional.includes(arg))).toEqual([]);
    expect(keeperArgs({ ...options, keepStdinOpen: true, terminal: true })).toEqual(expect.arrayContaining(optional));
  });
});

describe('the messages of conmon', () => {
  const program = (exited: Promise<unknown>) => ({ exited }) as Partial<StartedProgram> as StartedProgram;
  const never = new Promise<never>(() => {});

  it('come one by one: the pid, then the exit code', async () => {
    const pipe = new PassThrough();
    const messages = keeperMessages(program(never), pipe);
    pipe.write('{"data":17}\n{"da');
    expect(await messages.next()).toEqual({ done: false, value: { data: 17 } });
    pipe.write('ta":3,"message":"x"}\n');
    expect((await messages.next()).value).toEqual({ data: 3, message: 'x' });
  });

  it('end with a fault if conmon closes the pipe, and if it cannot be run', async () => {
    const closed = new PassThrough();
    closed.end();
    await expect(keeperMessages(program(never), closed).next()).rejects.toMatchObject({ code: 'unavailable' });
    const failed = program(Promise.reject(new Fault('unsupported', 'no conmon')));
    await expect(keeperMessages(failed, new PassThrough()).next()).rejects.toMatchObject({ code: 'unsupported' });
  });
});

test.each([
  ['writing: No space left on device', 'exhausted'],
  ['unshare: No space left on device', 'unsupported'],
  ['clone: Operation not permitted', 'unsupported'],
  ['fork: Cannot allocate memory', 'exhausted'],
  ['a warning\nsomething else\n', 'unavailable'],
])('a message of a runtime, %j, becomes the fault %s with its last line', (message, code) => {
  const fault = runtimeFault(message);
  expect(fault.code).toBe(code);
  expect(fault.message).toContain(message.trim().split('\n').at(-1));
});
