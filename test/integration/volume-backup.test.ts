// @takes 35 s
/** Backups of volumes, and archives that are damaged, foreign or hostile. */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readMark } from '../../src/lib/sys/sys.ts';
import { detachMount, mount } from '../../src/lib/sys/sys-mount.ts';
import { type Manifest, manifestBytes, parseManifest, printManifest } from '../../src/noun/volume/archive/manifest.ts';
import { blockBytes, makeHeader, padded } from '../../src/noun/volume/archive/member.ts';
import { userHash } from '../../src/noun/volume/model.ts';
import { codeOf } from '../conformance/engine/trial.ts';
import { fingerprint } from '../fixtures/layers.ts';
import { ada, at, bob, plantGoods, plantSpecial, VolumeBench } from '../fixtures/volume-bench.ts';
import { isRealRoot } from '../harness/machine.ts';

let bench: VolumeBench;
beforeEach(() => {
  bench = new VolumeBench();
  bench.volumes.init('ada', at);
});
afterEach(() => bench.dispose());

const payloadStart = blockBytes + manifestBytes + blockBytes;
const homeA = `carrel-home-${userHash('ada')}`;

function restore(acting = ada): Promise<unknown> {
  return bench.volumes.restore(acting, bench.file, at);
}

/** Replaces what is in the volume, so that a restore has something to do. */
function spoil(): void {
  execFileSync('find', [bench.home(), '-mindepth', '1', '-delete']);
  bench.write('other', 'other');
}

it('a backup is found by its user and the owner, unless it is damaged', async () => {
  bench.volumes.init('bob', at);
  const inBackups = (name: string) => join(bench.backups, `${name}.tar`);
  const homeOf = (acting: typeof ada) => bench.volumes.backup(acting, 'home', inBackups(acting.user), at);
  const made = await Promise.all([ada, bob].map(homeOf));
  const shared = await bench.volumes.backup(ada, 'base-plugins', inBackups('shared'), at);
  writeFileSync(inBackups('damaged'), readFileSync(shared.file).subarray(0, -1));
  const files = async (...asked: Parameters<typeof bench.volumes.backups>) =>
    (await bench.volumes.backups(...asked)).map(({ file, bytes }) => [file, bytes]).sort();
  const told = (...all: (typeof made)[number][]) => all.map(({ file, bytes }) => [file, bytes]).sort();
  expect(await files(bob)).toEqual(told(made[1]!));
  expect(await files(ada)).toEqual(told(made[0]!, shared));
  expect(await files(ada, true)).toEqual(told(...made, shared));
  expect(await codeOf(bench.volumes.backups(bob, true))).toBe('denied');
});

it('a running backup or restore is listed with its bytes, for its user and the owner', async () => {
  bench.volumes.init('bob', at);
  const file = join(bench.backups, 'bob.tar');
  const seen = new Set<string>();
  /** Looks whenever the event loop turns, until the work has ended. */
  const watched = async (work: Promise<unknown>) => {
    let isOver = false;
    const over = work.finally(() => {
      isOver = true;
    });
    for (; !isOver; await new Promise(setImmediate)) {
      const own = bench.volumes.work(bob);
      expect(bench.volumes.work(ada)).toEqual(own);
      expect(bench.volumes.work({ user: 'eve', isOwner: false })).toEqual([]);
      for (const one of own)
        seen.add(
          `${one.doing} ${one.type} ${one.bytes > 0} ${one.totalBytes === statSync(file, { throwIfNoEntry: false })?.size}`,
        );
    }
    await over;
    expect(bench.volumes.work(ada)).toEqual([]);
  };
  await watched(bench.volumes.backup(bob, 'home', file, at));
  await watched(bench.volumes.restore(bob, file, at));
  expect([...seen]).toEqual(expect.arrayContaining(['packing home true false', 'unpacking home true true']));
});

describe('a backup', () => {
  it('can be restored with all files and their attributes', async () => {
    plantGoods(bench.home());
    const [before, { mode, uid }] = [fingerprint(bench.home()), statSync(bench.home())];
    const { notes, bytes } = await bench.volumes.backup(ada, 'home', bench.file, at);
    expect([notes, bytes, statSync(bench.file).mode & 0o777]).toEqual([[], statSync(bench.file).size, 0o600]);
    expect(bytes).toBeLessThan(100_000);
    spoil();
    expect(await restore()).toMatchObject({ volume: { name: homeA }, notes: [] });
    expect(fingerprint(bench.home())).toEqual(before);
    expect(statSync(bench.home())).toMatchObject({ mode, uid });
    expect(statSync(join(bench.home(), 'sparse')).blocks).toBeLessThan(100);
    expect(statSync(join(bench.home(), 'file')).ino).toBe(statSync(join(bench.home(), 'linked')).ino);
    expect(readMark(Buffer.from(join(bench.home(), 'file')), 'user.mark')?.toString()).toBe('value = \n one');
    expect(bench.litter()).toEqual([]);
  });

  it('is an archive that tar can list', async () => {
    bench.write('a', 'hello');
    await bench.volumes.backup(ada, 'home', bench.file, at);
    const manifest = JSON.parse(execFileSync('tar', ['-xOf', bench.file, 'manifest.json'], { encoding: 'utf8' }));
    expect(manifest).toMatchObject({
      format: 1,
      volume: homeA,
      type: 'home',
      owner: 'ada',
      createdAt: at,
      carrel: '0',
    });
    execFileSync('tar', ['-xf', bench.file, 'data.tar.zst'], { cwd: bench.root });
    expect(execFileSync('tar', ['--zstd', '-xOf', 'data.tar.zst', './a'], { cwd: bench.root, encoding: 'utf8' })).toBe(
      'hello',
    );
  });

  it('leaves out sockets, pipes and devices, and reports that', async () => {
    plantGoods(bench.home());
    const before = fingerprint(bench.home());
    plantSpecial(bench.home());
    const { notes } = await bench.volumes.backup(ada, 'home', bench.file, at);
    expect(notes.join('\n')).toMatch(/socket: ".\/socket"/);
    expect(notes.join('\n')).toMatch(/pipe: .* "\.\/pipe/);
    expect(notes.join('\n')).toMatch(/device: ".\/gone"/);
    expect(notes.join('\n')).toMatch(/path that is too long: /);
    spoil();
    await restore();
    const after = fingerprint(bench.home()).filter((line) => !line.startsWith('ddd'));
    expect(after).toEqual(before);
  });

  it('is made without zstd, too', async () => {
    plantGoods(bench.home());
    const before = fingerprint(bench.home());
    const bin = join(bench.root, 'bin');
    mkdirSync(bin);
    for (const name of ['tar', 'gzip', 'find', 'rm', 'sync', 'chown']) symlinkSync(`/usr/bin/${name}`, join(bin, name));
    const { PATH } = process.env;
    process.env.PATH = bin;
    try {
      await bench.volumes.backup(ada, 'home', bench.file, at);
      await restore();
    } finally {
      process.env.PATH = PATH;
    }
    expect(readFileSync(bench.file).includes('data.tar.gz')).toBe(true);
    expect(fingerprint(bench.home())).toEqual(before);
  });

  it.runIf(isRealRoot)('is refused for a device other than the mark of a deleted file', async () => {
    plantSpecial(bench.home());
    execFileSync('mknod', [join(bench.home(), 'null'), 'c', '1', '3']);
    expect(await codeOf(bench.volumes.backup(ada, 'home', bench.file, at))).toBe('invalid');
    expect(existsSync(bench.file)).toBe(false);
  });

  it('replaces no file, and leaves none behind when it fails', async () => {
    writeFileSync(bench.file, 'mine');
    expect(await codeOf(bench.volumes.backup(ada, 'home', bench.file, at))).toBe('conflict');
    expect(readFileSync(bench.file, 'utf8')).toBe('mine');
    const small = join(bench.root, 'small');
    mkdirSync(small);
    mount('carrel-test', small, 'tmpfs', 0, 'size=64k');
    try {
      execFileSync('dd', ['if=/dev/urandom', `of=${join(bench.home(), 'noise')}`, 'bs=1M', 'count=1', 'status=none']);
      expect(await codeOf(bench.volumes.backup(ada, 'home', join(small, 'b.tar'), at))).toBe('exhausted');
      expect(readdirSync(small)).toEqual([]);
    } finally {
      detachMount(small);
    }
  });

  it('of a volume that changes all the time ends, with a note or without', async () => {
    const script =
      'i=0; while :; do i=$((i+1)); mkdir -p d; ln -sfn /etc d/x; mv -T d e 2>/dev/null; ln -sfn /etc d; rm -rf d e; done';
    const agent = spawn('sh', ['-c', script], { cwd: bench.home(), stdio: ['ignore', 'pipe', 'ignore'] });
    try {
      for (let n = 0; n < 20; n += 1) {
        const file = join(bench.root, `moving-${n}.tar`);
        await bench.volumes.backup(ada, 'home', file, at);
        const listed = execFileSync('sh', ['-c', 'tar -xOf "$1" data.tar.zst | zstd -dc | tar -t', 'sh', file], {
          encoding: 'utf8',
        });
        expect(listed).not.toMatch(/passwd/);
      }
    } finally {
      // Once its stdout is closed, all programs that it has started have ended, too.
      agent.stdout.resume();
      const closed = once(agent, 'close');
      agent.kill('SIGKILL');
      await closed;
    }
  });
});

describe('a restore', () => {
  beforeEach(async () => {
    bench.write('good', 'good');
    await bench.volumes.backup(ada, 'home', bench.file, at);
    spoil();
  });

  /** Checks that nothing was replaced, and that no temporary file is left. */
  function untouched(): void {
    expect(readdirSync(bench.home())).toEqual(['other']);
    expect(bench.litter()).toEqual([]);
  }

  it('makes a volume that does not exist', async () => {
    await bench.volumes.clean(ada, ['home'], false, at);
    await restore();
    expect(readdirSync(bench.home())).toEqual(['good']);
    expect(bench.records.get(homeA)).toMatchObject({ user: 'ada' });
  });

  it('refuses while the volume is in use, also when that begins meanwhile', async () => {
    bench.mounted.add(homeA);
    expect(await codeOf(restore())).toBe('conflict');
    bench.mounted.delete(homeA);
    bench.mountAfterCalls(1);
    expect(await codeOf(restore())).toBe('conflict');
    untouched();
  });

  it('refuses an archive that belongs to another account', async () => {
    bench.volumes.init('bob', at);
    expect(await codeOf(restore(bob))).toBe('denied');
    forge({ type: 'base-plugins', owner: null });
    expect(await codeOf(restore(bob))).toBe('denied');
    forge({ type: 'base-plugins', owner: 'bob' });
    expect(await codeOf(restore(bob))).toBe('invalid');
    untouched();
  });

  it('refuses content that reads well but has another checksum', async () => {
    forge({ payloadSha256: 'f'.repeat(64) });
    expect(await codeOf(restore())).toBe('invalid');
    untouched();
  });

  it('refuses an archive of a newer format', async () => {
    forge({ format: 2 });
    expect(await codeOf(restore())).toBe('unsupported');
    untouched();
  });

  it.each([0, 520, 600, 700, payloadStart, payloadStart + 40, 'last'])(
    'refuses a byte changed at %s',
    async (place) => {
      const bytes = readFileSync(bench.file);
      const { payloadBytes } = parseManifest(bytes.subarray(blockBytes, blockBytes + manifestBytes));
      bytes[place === 'last' ? payloadStart + payloadBytes - 1 : Number(place)]! ^= 1;
      writeFileSync(bench.file, bytes);
      expect(await codeOf(restore())).toBe('invalid');
      untouched();
    },
  );

  it.each([0, 100, 3000, 5121, -1, -1024, -1100])('refuses an archive that is cut off at %i', async (length) => {
    truncateSync(bench.file, length < 0 ? statSync(bench.file).size + length : length);
    expect(await codeOf(restore())).toBe('invalid');
    untouched();
  });

  it('refuses an archive that is not a regular file', async () => {
    rmSync(bench.file);
    expect(await codeOf(restore())).toBe('not_found');
    execFileSync('mkfifo', [bench.file]);
    expect(await codeOf(restore())).toBe('invalid');
    rmSync(bench.file);
    symlinkSync('/etc/passwd', bench.file);
    expect(await codeOf(restore())).toBe('invalid');
    untouched();
  });

  it.each<[string, string]>([
    ['leads out', "tar -cPf - --transform 's,^good,../../stolen,' good"],
    ['is absolute', `tar -cPf - --transform "s,^good,$PWD/../stolen," good`],
    ['leads through a link', 'ln -s .. l; tar -cf - l > a; rm l; mkdir l; cp good l/stolen; tar -rf a l/stolen; cat a'],
    ['links to the outside', `tar -cPf - --transform 'flags=h;s,^good,../../secret,' good2 good3`],
    ['is a device', 'tar -cf - -C /dev null'],
    ['is of another form', 'tar -cf - --format=gnu good'],
    ['is no tar', 'echo hello'],
  ])('refuses content that %s', async (_, script) => {
    const work = join(bench.root, 'work');
    mkdirSync(work);
    writeFileSync(join(work, 'good'), 'good');
    writeFileSync(join(work, 'good2'), 'x');
    execFileSync('ln', ['good2', 'good3'], { cwd: work });
    writeFileSync(join(bench.root, 'secret'), 'secret');
    const options = {
      cwd: work,
      env: { ...process.env, TAR_OPTIONS: script.includes('--format') ? '' : '--format=pax' },
    };
    forge({}, execFileSync('sh', ['-c', `{ ${script}; } | zstd -q -c`], options));
    expect(await codeOf(restore())).toBe('invalid');
    expect(existsSync(join(bench.root, 'stolen'))).toBe(false);
    untouched();
  });

  it('refuses to fill the disk', async () => {
    rmSync(bench.file);
    await bench.volumes.clean(ada, ['home'], false, at);
    bench.volumes.init('ada', at);
    writeFileSync(join(bench.home(), 'zeros'), Buffer.alloc(400_000_000));
    await bench.volumes.backup(ada, 'home', bench.file, at);
    expect(statSync(bench.file).size).toBeLessThan(1_000_000);
    spoil();
    mount('carrel-test', bench.folder, 'tmpfs', 0, 'size=200m');
    try {
      mkdirSync(bench.home());
      bench.write('other', 'other');
      expect(await codeOf(restore())).toBe('exhausted');
      untouched();
    } finally {
      detachMount(bench.folder);
    }
  });

  /** Writes the archive again with other facts, or with other content and its checksum. */
  function forge(facts: Partial<Record<keyof Manifest, unknown>>, payload?: Buffer): void {
    const bytes = readFileSync(bench.file);
    const known = parseManifest(bytes.subarray(blockBytes, blockBytes + manifestBytes));
    const content = payload ?? bytes.subarray(payloadStart, payloadStart + known.payloadBytes);
    const sums = { payloadBytes: content.length, payloadSha256: createHash('sha256').update(content).digest('hex') };
    const manifest = { ...known, ...sums, ...facts } as Manifest;
    const [one, two] = [
      makeHeader('manifest.json', manifestBytes, new Date(0)),
      makeHeader('data.tar.zst', content.length, new Date(0)),
    ];
    const end = Buffer.alloc(padded(content.length) - content.length + 2 * blockBytes);
    writeFileSync(bench.file, Buffer.concat([one, printManifest(manifest), two, content, end]));
  }
});
