import { describe, expect, it } from 'vitest';
import { sampleLaunch } from '../../../../../test/fixtures/launch.ts';
import { identityOf, readIdSpace } from '../ids.ts';
import { type LocalSpecInput, maxProcesses, processSpec, runtimeSpec } from './spec.ts';

interface Spec {
  readonly process: { readonly args: string[]; readonly env: string[] };
  readonly mounts: { readonly destination: string; readonly type: string; readonly options: readonly string[] }[];
  readonly linux: {
    readonly uidMappings: object[];
    readonly gidMappings: object[];
    readonly resources: object;
    readonly maskedPaths: readonly string[];
    readonly readonlyPaths: readonly string[];
  };
}

const identity = identityOf(0, readIdSpace('0 0 4294967295'));
const spec = (change: Partial<LocalSpecInput> = {}) =>
  runtimeSpec({
    launch: sampleLaunch(),
    identity,
    rootPath: '/r',
    mounts: [],
    cgroupsPath: '/c',
    byGroup: ['cpus', 'memoryBytes', 'swapBytes', 'pids'],
    arch: 'x64',
    annotations: {},
    ...change,
  }) as Spec;

describe('the command', () => {
  it('runs below an init, and without a command the sandbox sleeps', () => {
    expect(spec({ launch: sampleLaunch({ command: ['--', '-x'] }) }).process.args.slice(-3)).toEqual([
      '--',
      '--',
      '-x',
    ]);
    expect(spec().process.args).toEqual(['/opt/carrel/init', '--', 'sleep', 'infinity']);
  });

  it('has the environment of the launch and no other', () => {
    expect(spec({ launch: sampleLaunch({ env: { A: '1', B: 'x=y z' } }) }).process.env).toEqual(['A=1', 'B=x=y z']);
  });

  it('has a terminal of a size, if it has one', () => {
    const command = { args: ['ls'], env: {}, cwd: '/', maxProcesses: null };
    expect(processSpec({ ...command, terminal: { rows: 24, columns: 80 } })).toMatchObject({
      terminal: true,
      consoleSize: { height: 24, width: 80 },
    });
    expect(processSpec({ ...command, terminal: null })).not.toHaveProperty('consoleSize');
  });
});

describe('the mounts', () => {
  it('of the launch come after those of the kernel, in their order', () => {
    const own = ['/a', '/b'].map((destination) => ({ destination, type: 'bind', source: '/s', options: ['bind'] }));
    const destinations = spec({ mounts: own }).mounts.map((mount) => mount.destination);
    expect(destinations.slice(-2)).toEqual(['/a', '/b']);
    expect(destinations.slice(0, 2)).toEqual(['/proc', '/dev']);
  });

  it('give no kernel filesystem in which a program could be run or gain rights', () => {
    for (const { options } of spec().mounts) expect(options).toEqual(expect.arrayContaining(['nosuid', 'noexec']));
  });

  it('have nothing of /sys but the processors, read-only', () => {
    const ofSys = spec().mounts.filter(({ destination }) => destination.startsWith('/sys'));
    expect(ofSys.map(({ destination }) => destination)).toEqual(['/sys/devices/system/cpu']);
    expect(ofSys[0]!.options).toContain('ro');
  });

  it('mask secrets of the kernel, and make its switches and the devices of the host read-only', () => {
    const { maskedPaths, readonlyPaths } = spec().linux;
    expect(maskedPaths).toEqual(expect.arrayContaining(['/proc/kcore', '/proc/keys', '/proc/kallsyms']));
    expect(readonlyPaths).toEqual(expect.arrayContaining(['/proc/sys', '/proc/sysrq-trigger', '/dev/null']));
  });
});

describe('ids and limits', () => {
  it('map groups as users', () => {
    const { uidMappings, gidMappings } = spec().linux;
    expect(uidMappings).toEqual(gidMappings);
    expect(uidMappings).toHaveLength(identity.mappings.length);
  });

  it('are set in the group only if the group has a controller for them', () => {
    const { limits } = sampleLaunch();
    expect(spec({ byGroup: ['memoryBytes'] }).linux.resources).toEqual({ memory: { limit: limits.memoryBytes } });
    expect(spec({ byGroup: [] }).linux.resources).toEqual({});
  });

  it('count processes once: by the group, or by the kernel', () => {
    const { limits } = sampleLaunch();
    expect(maxProcesses(limits, ['pids'])).toBeNull();
    expect(maxProcesses(limits, ['cpus'])).toBe(limits.pids);
  });
});
