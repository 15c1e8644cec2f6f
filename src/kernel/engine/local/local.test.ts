/** The parts of the engine that decide without touching the machine. */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sampleLaunch } from '../../../../test/fixtures/launch.ts';
import { decodeRecord } from '../log-record.ts';
import { agentId, identityOf, readIdSpace, withAgentAs } from './ids.ts';
import { linkRotatedLogs, readLog } from './log/log-file.ts';
import { LogWatch } from './log/log-watch.ts';
import { runtimeSpec } from './runtime/spec.ts';
import { refuseHostNamespace } from './stage/stage.ts';

describe('ids', () => {
  const root = readIdSpace('         0          0 4294967295\n');
  const rootless = readIdSpace('         0       1000          1\n         1     100000      65535\n');

  it('are a high range as root, and the subordinate range otherwise', () => {
    expect(root).toMatchObject({ rootless: false, perUser: 65_536 });
    expect(rootless).toMatchObject({ rootless: true, base: 1, count: 65_535 });
  });

  it('of two users never overlap, and a Fault says when they run out', () => {
    const [first, second] = [0, 1].map((slot) => identityOf(slot, rootless).mappings[0]!);
    expect(first!.outside + first!.size).toBeLessThanOrEqual(second!.outside);
    expect(() => identityOf(15, rootless)).toThrow('no range');
  });

  it('map agent to the owner of a folder, and no id twice', () => {
    const { mappings, agentId: outside } = withAgentAs(identityOf(0, rootless), 0);
    expect(outside).toBe(0);
    expect(mappings).toEqual([
      { inside: 0, outside: 1, size: 1000 },
      { inside: 1000, outside: 0, size: 1 },
      { inside: 1001, outside: 1002, size: 3095 },
    ]);
  });
});

describe('the runtime spec', () => {
  const launch = sampleLaunch({ id: '0123456789abcdef', command: ['ls'], env: { A: '1' } });
  const spec = (cgroupsPath: string | null) =>
    runtimeSpec({
      launch,
      identity: identityOf(0, readIdSpace('0 0 4294967295')),
      rootPath: '/r',
      mounts: [],
      cgroupsPath,
      byGroup: cgroupsPath ? ['cpus', 'memoryBytes', 'swapBytes', 'pids'] : [],
      arch: 'x64',
      annotations: {},
    }) as { process: Record<string, unknown>; linux: Record<string, unknown>; root: object };

  it('has every namespace, no capability, no way to gain one, and a filter', () => {
    const { process, linux, root } = spec('/c');
    expect((linux.namespaces as { type: string }[]).map(({ type }) => type).sort()).toEqual([
      'cgroup',
      'ipc',
      'mount',
      'network',
      'pid',
      'user',
      'uts',
    ]);
    expect(Object.values(process.capabilities as object).flat()).toEqual([]);
    expect(process).toMatchObject({ noNewPrivileges: true, user: { uid: agentId, gid: agentId } });
    expect(linux.seccomp).toMatchObject({ defaultAction: 'SCMP_ACT_ERRNO' });
    expect(root).toEqual({ path: '/r', readonly: true });
  });

  it('sets limits by control group, or the number of processes by resource limit', () => {
    expect(spec('/c').linux.resources).toMatchObject({
      memory: { limit: 4 * 1024 ** 3, swap: 8 * 1024 ** 3 },
      pids: { limit: 512 },
      cpu: { quota: 200_000 },
    });
    expect(spec(null).process.rlimits).toContainEqual({ type: 'RLIMIT_NPROC', soft: 512, hard: 512 });
    expect(spec(null).linux).not.toHaveProperty('cgroupsPath');
  });
});

describe('the mount namespace', () => {
  const host = 'mnt:[1]';
  const [own, first] = ['mnt:[2]', host];
  const refused = (change: Partial<Parameters<typeof refuseHostNamespace>[0]>) => {
    try {
      refuseHostNamespace({ own, first, ancestors: [], rootless: false, ...change });
      return false;
    } catch {
      return true;
    }
  };

  it('must differ from that of the first process', () => {
    expect(refused({})).toBe(false);
    expect(refused({ own: host })).toBe(true);
    expect(refused({ own: host, rootless: true })).toBe(true);
    expect(refused({ own: null })).toBe(true);
  });

  it('is refused to root if that of the first process cannot be read, unless an ancestor is in another namespace', () => {
    expect(refused({ first: null })).toBe(true);
    expect(refused({ first: null, ancestors: [own, null] })).toBe(true);
    expect(refused({ first: null, ancestors: [own, host, null] })).toBe(false);
    expect(refused({ first: null, rootless: true })).toBe(false);
    expect(refused({ own: null, first: null, rootless: true })).toBe(true);
  });
});

describe('a log', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'carrel-log-'));
    mkdirSync(folder, { recursive: true });
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const record = (text: string, tag = 'F', stream = 'stdout') =>
    `2026-01-01T00:00:00.000000000+00:00 ${stream} ${tag} ${text}\n`;
  const write = (...records: string[]) => writeFileSync(join(folder, 'log'), records.join(''));
  const read = async (tail: number | null) => {
    const lines = [];
    for await (const line of readLog(folder, 3, { follow: false, tail }, () => ({ isOver: async () => true })))
      lines.push(line.bytes.toString());
    return lines.join('');
  };
  /** Replaces the log as conmon does at the size limit. */
  const replace = (...records: string[]) => {
    writeFileSync(join(folder, 'log.tmp'), records.join(''));
    renameSync(join(folder, 'log.tmp'), join(folder, 'log'));
  };

  it('returns the bytes as they were written', () => {
    const bytes = Buffer.from([0x80, 0x00, 0xff, 0x20]);
    const line = decodeRecord(Buffer.concat([Buffer.from(record('').trimEnd()), Buffer.from(' '), bytes]));
    expect(line).toMatchObject({ stream: 'stdout', bytes: Buffer.concat([bytes, Buffer.from('\n')]) });
    expect(decodeRecord(Buffer.from('nonsense'))).toBeNull();
  });

  it('joins the pieces of a line, and leaves out an incomplete record', async () => {
    write(record('one '), record('tw', 'P'), record('o'), record('end', 'P'), '2026-01-01T00:00:00Z stdout F unfin');
    expect(await read(null)).toBe('one \ntwo\nend');
    expect(await read(2)).toBe('two\nend');
  });

  it('keeps the configured number of files, each line once', async () => {
    write(record('a'));
    linkRotatedLogs(folder, 3);
    for (const text of ['b', 'c', 'd', 'e']) {
      replace(record(text));
      linkRotatedLogs(folder, 3);
      linkRotatedLogs(folder, 3);
    }
    expect(await read(null)).toBe('c\nd\ne\n');
    expect(await read(1)).toBe('e\n');
    expect(await read(2)).toBe('d\ne\n');
    expect(await read(3)).toBe('c\nd\ne\n');
    expect(await read(9)).toBe('c\nd\ne\n');
    expect(await read(0)).toBe('');
    const files = new Set(readdirSync(folder).map((name) => statSync(join(folder, name)).ino));
    // Three kept files, and the empty file that conmon will use next.
    expect(files.size).toBe(4);
  });

  it('returns a whole line that began in the previous file', async () => {
    write(record('x'), record('begun ', 'P'));
    linkRotatedLogs(folder, 3);
    replace(record('and ended'), record('z'));
    expect(await read(1)).toBe('z\n');
    expect(await read(2)).toBe('begun and ended\nz\n');
  });

  it('loses nothing when the file is replaced twice before the next read, and continues after more replacements', async () => {
    write(record('a'));
    linkRotatedLogs(folder, 3);
    replace(record('b'));
    replace(record('c'));
    expect(await read(null)).toBe('a\nb\nc\n');
    for (const text of ['d', 'e', 'f']) replace(record(text));
    expect(await read(null)).toBe('c\nd\nf\n');
    replace(record('g'));
    expect(await read(null)).toBe('d\nf\ng\n');
  });

  it('survives a crash between the making of the spare file and its link', async () => {
    write(record('a'));
    writeFileSync(join(folder, 'spare'), '');
    linkRotatedLogs(folder, 3);
    replace(record('b'));
    expect(await read(null)).toBe('a\nb\n');
  });

  it('keeps replaced files while a LogWatch exists, also one that was replaced before the watch was made', async () => {
    const runs = folder;
    folder = join(runs, 'one');
    mkdirSync(folder);
    write(record('a'));
    linkRotatedLogs(folder, 3);
    replace(record('b'));
    const watch = new LogWatch(runs, 3);
    replace(record('c'));
    const linked = () => statSync(join(folder, 'log')).ino === statSync(join(folder, 'log.1')).ino;
    while (!linked()) await new Promise((resolve) => setImmediate(resolve));
    watch.close();
    expect(await read(null)).toBe('a\nb\nc\n');
    folder = runs;
  });
});
