/** The limits on what an agent's commits may cost on the host, however small their bundle is. */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import {
  type BundleBounds,
  bundleBounds,
  bundleCommand,
  importBundle,
  projectTips,
} from '../../src/noun/workspace/git/bundle/bundle.ts';
import { Repository } from '../harness/repository.ts';

const MiB = 1024 ** 2;
const root = mkdtempSync(join(tmpdir(), 'carrel-bounds-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
spawnSync('chmod', ['755', root]);

const small = bundleBounds({ diskBytes: MiB, memoryBytes: MiB });

async function refuses(project: Repository, bundle: string, why: RegExp, bounds: BundleBounds = small) {
  const before = project.state();
  const fault = await importBundle({ project: project.path, name: 'n', bundle, bounds }).catch((error) => error);
  expect(fault).toMatchObject({ code: 'invalid' });
  expect(fault.message).toMatch(why);
  expect(project.state()).toBe(before);
}

const kinds = { blob: 3, refDelta: 7 } as const;

function entry(kind: keyof typeof kinds, data: Buffer, base: Buffer = Buffer.alloc(0)): Buffer {
  const head = [(kinds[kind] << 4) | (data.length & 15)];
  for (let size = data.length >>> 4; size > 0; size >>>= 7) {
    head[head.length - 1]! |= 0x80;
    head.push(size & 127);
  }
  return Buffer.concat([Buffer.from(head), base, deflateSync(data)]);
}

function number(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...number(Math.floor(value / 128))];
}

const zeros = Buffer.alloc(0xffffff);
const zerosOid = createHash('sha1').update(`blob ${zeros.length}\0`).update(zeros).digest();

/** A delta that repeats the zeros and ends with a number. */
function bomb(times: number, tail: number): Buffer {
  const end = Buffer.alloc(4);
  end.writeUInt32BE(tail);
  const copies = Array.from({ length: times }, () => [0xf0, 0xff, 0xff, 0xff]).flat();
  const sizes = [...number(zeros.length), ...number(times * zeros.length + end.length)];
  return entry('refDelta', Buffer.from([...sizes, ...copies, end.length, ...end]), zerosOid);
}

function bundleOf(entries: readonly Buffer[]): string {
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\0');
  head.writeUInt32BE(entries.length, 8);
  const pack = Buffer.concat([head, ...entries]);
  const path = join(mkdtempSync(join(root, 'bomb-')), 'bundle');
  const sum = createHash('sha1').update(pack).digest();
  writeFileSync(path, Buffer.concat([Buffer.from(`# v2 git bundle\n${'1'.repeat(40)} refs/heads/x\n\n`), pack, sum]));
  return path;
}

it('a bundle that is larger than the disk limit of its sandbox is refused', async () => {
  const path = bundleOf([entry('blob', randomBytes(MiB))]);
  await refuses(new Repository(root), path, /larger than 1048576 bytes/);
});

it('a small bundle is refused if its pack would repeat many large files of the project', async () => {
  const files = Object.fromEntries(Array.from({ length: 4 }, (_, n) => [`f${n}`, randomBytes(MiB)]));
  const project = new Repository(root, files);
  const agent = new Repository(root);
  rmSync(agent.path, { recursive: true });
  cpSync(project.path, agent.path, { recursive: true });
  agent.commit(
    Object.fromEntries(Object.entries(files).map(([name, bytes]) => [name, Buffer.concat([bytes, Buffer.from('x')])])),
    'two',
  );
  const [file, ...args] = bundleCommand((await projectTips(project.path))!);
  const path = join(mkdtempSync(join(root, 'thin-')), 'bundle');
  writeFileSync(path, spawnSync(file!, args, { cwd: agent.path, maxBuffer: 64 * MiB }).stdout);
  expect(statSync(path).size).toBeLessThan(MiB / 4);
  await refuses(project, path, /takes more space or time than its sandbox may have/);
  const enough = bundleBounds({ diskBytes: 8 * MiB, memoryBytes: MiB });
  expect(await importBundle({ project: project.path, name: 'n', bundle: path, bounds: enough })).toHaveLength(1);
});

it('an object that is larger than the memory limit of its sandbox is refused', async () => {
  const path = bundleOf([entry('blob', zeros), bomb(60, 1)]);
  expect(statSync(path).size).toBeLessThan(MiB / 10);
  await refuses(new Repository(root), path, /allocate|memory/);
});

it('a bundle that takes too much processor time is refused', async () => {
  const path = bundleOf([entry('blob', zeros), ...Array.from({ length: 5000 }, (_, n) => bomb(3, n))]);
  expect(statSync(path).size).toBeLessThan(MiB);
  await refuses(new Repository(root), path, /takes more space or time than its sandbox may have/, {
    ...small,
    cpuSeconds: 1,
  });
});

it('a long subject is cut', async () => {
  const project = new Repository(root);
  const agent = new Repository(root);
  rmSync(agent.path, { recursive: true });
  cpSync(project.path, agent.path, { recursive: true });
  agent.feed('long '.repeat(200_000), 'commit', '-q', '--allow-empty', '-F', '-');
  const [file, ...args] = bundleCommand((await projectTips(project.path))!);
  const path = join(mkdtempSync(join(root, 'subject-')), 'bundle');
  writeFileSync(path, spawnSync(file!, args, { cwd: agent.path }).stdout);
  const [taken] = await importBundle({ project: project.path, name: 'n', bundle: path });
  expect(taken!.subject.length).toBeLessThan(600);
});
