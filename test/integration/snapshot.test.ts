/** Snapshots, restores and forks of layers that the kernel made, with what an agent may plant in them. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Anchor, within } from '../../src/lib/file/anchor.ts';
import { diskUsage } from '../../src/lib/file/disk.ts';
import { ensureDisk } from '../../src/noun/workspace/snapshot/disk.ts';
import {
  copyState,
  findSnapshot,
  listSnapshots,
  recoverRestore,
  removeSnapshot,
  restoreSnapshot,
  type Snapshot,
  takeSnapshot,
} from '../../src/noun/workspace/snapshot/snapshot.ts';
import { codeOf } from '../conformance/engine/trial.ts';
import { crash, fingerprint, Layers } from '../fixtures/layers.ts';
import { isRealRoot } from '../harness/machine.ts';

const at = '2025-01-02T03:04:05.000Z';
let layers: Layers;
let folder: string;

beforeEach(() => {
  layers = new Layers();
  layers.prepare();
  folder = layers.folder;
});
afterEach(() => layers.dispose());

const work = `
  echo new > new; echo changed > a; ln new linked; ln -s /etc/passwd link; mkfifo fifo; chmod 000 a
  rm -r deleted; rm -r replaced; mkdir replaced; echo other > replaced/other
  truncate -s 100M sparse; echo end >> sparse; mkdir -m 1777 empty; printf x > "$(printf 'odd\\n\\377name')"
`;

function take(label: string | null = null, auto = false): Promise<Snapshot> {
  return takeSnapshot(folder, { label, at, auto });
}

function state(of = folder): string {
  return join(of, 'state');
}

describe('a snapshot', () => {
  it('keeps all files and overlay attributes', async () => {
    layers.inside(work);
    writeFileSync(join(state(), 'workspace/base.log'), 'log');
    const [before, seen] = [fingerprint(join(state(), 'workspace/upper')), layers.seen()];
    expect(before.join('\n')).toMatch(/deleted\tc/);
    const { id } = await take('first one');
    const copy = join(folder, 'snapshots', id, 'state/workspace');
    expect(fingerprint(join(copy, 'upper'))).toEqual(before);
    expect(readdirSync(copy).sort()).toEqual(['base.log', 'upper', 'work']);
    expect(readdirSync(join(copy, 'work'))).toEqual([]);
    expect(statSync(join(copy, 'upper/sparse')).blocks).toBeLessThan(100);
    layers.inside('rm -rf -- * ; mkdir deleted; echo back > deleted/d');
    expect(layers.seen()).not.toBe(seen);
    await restoreSnapshot(folder, id, at);
    expect(layers.seen()).toBe(seen);
    expect(layers.inside('ls; stat -c %h new; cat replaced/*').split('\n')).not.toContain('deleted');
  });

  it('is listed with its facts, and found by id or by label, the newest first', async () => {
    layers.inside('head -c 300000 /dev/urandom > big');
    const first = await take('same');
    const [second, third] = [await take('same'), await take()];
    expect(first).toEqual({ id: '0001', label: 'same', createdAt: at, auto: false, sizeBytes: expect.any(Number) });
    expect(first.sizeBytes).toBeGreaterThan(300_000);
    expect(first.sizeBytes).toBeLessThan(400_000);
    expect(listSnapshots(folder)).toEqual([first, second, third]);
    expect(findSnapshot(folder, 'same')).toEqual(second);
    expect(findSnapshot(folder, '0001')).toEqual(first);
    expect(() => findSnapshot(folder, 'other')).toThrow(
      expect.objectContaining({ code: 'not_found', hint: 'There is 0003, 0002 (same), 0001 (same).' }),
    );
    await removeSnapshot(folder, '0002');
    await removeSnapshot(folder, '0002');
    expect(listSnapshots(folder)).toEqual([first, third]);
  });

  it('is refused if its label is not a plain name', async () => {
    for (const label of ['', ' a', '../up', 'a/b', 'a\nb', '-rf', 'x'.repeat(64)]) {
      expect(await codeOf(take(label))).toBe('invalid');
    }
    expect(existsSync(join(folder, 'snapshots'))).toBe(false);
  });

  it('that is automatic is removed once there are ten newer ones, unlike a requested one', async () => {
    const asked = await take('mine');
    for (let count = 0; count < 12; count += 1) await take(null, true);
    const ids = listSnapshots(folder).map(({ id }) => id);
    expect(ids).toEqual([asked.id, ...Array.from({ length: 10 }, (_, index) => String(index + 4).padStart(4, '0'))]);
  });

  it('is refused when there are too many', async () => {
    for (let id = 1; id <= 990; id += 1) {
      const name = String(id).padStart(4, '0');
      mkdirSync(join(folder, 'snapshots', name), { recursive: true });
      const facts = { id: name, label: null, createdAt: at, auto: false, sizeBytes: 0 };
      writeFileSync(join(folder, 'snapshots', name, 'snapshot.json'), JSON.stringify(facts));
    }
    expect(await codeOf(take())).toBe('exhausted');
    expect((await take(null, true)).id).toBe('0991');
  });

  it('of a tree deeper than any path is complete, and can be removed', async () => {
    const data = join(state(), 'data');
    atDepth(data, (leaf) => {
      execFileSync('sh', ['-ec', 'echo deep > leaf; ln leaf twin; mkfifo pipe; chmod 000 leaf'], { cwd: leaf });
    });
    const { id } = await take();
    expect(atDepth(join(folder, 'snapshots', id, 'state/data'), fingerprint)).toEqual(atDepth(data, fingerprint));
    await restoreSnapshot(folder, id, at);
    await removeSnapshot(folder, id);
    expect(atDepth(data, fingerprint)).toEqual([
      expect.stringMatching(/^leaf\tf 0 .* 5 [0-9a-f]+$/),
      expect.stringMatching(/^pipe\tp /),
      expect.stringMatching(/^twin\tf 0 /),
    ]);
  });

  it('follows no link, and treats folders named upper and work like others', async () => {
    const outside = join(layers.root, 'outside');
    mkdirSync(join(outside, 'work'), { recursive: true });
    writeFileSync(join(outside, 'secret'), 'secret');
    execFileSync('sh', ['-ec', 'ln -s "$0" upper; mkdir work; echo mine > work/mine; ln -s "$0/secret" s', outside], {
      cwd: join(state(), 'data'),
    });
    const before = fingerprint(join(state(), 'data'));
    const { id } = await take();
    expect(fingerprint(join(folder, 'snapshots', id, 'state/data'))).toEqual(before);
    expect(await diskUsage(folder)).toBeLessThan(200_000);
    await restoreSnapshot(folder, id, at);
    expect(fingerprint(join(state(), 'data'))).toEqual(before);
    expect(readdirSync(outside)).toEqual(['secret', 'work']);
  });
});

describe('a restore', () => {
  it('can be undone by a restore', async () => {
    layers.inside('echo one > file');
    const { id } = await take();
    layers.inside('echo two > file; echo more > more');
    const before = await restoreSnapshot(folder, id, at);
    expect(before).toMatchObject({ id: '0002', auto: true, label: 'before restore of 0001' });
    expect(layers.inside('cat file; ls')).not.toContain('more');
    await restoreSnapshot(folder, before.id, at);
    expect(layers.inside('cat file more')).toBe('two\nmore\n');
  });

  it('of a snapshot that does not exist changes nothing', async () => {
    layers.inside('echo one > file');
    const before = fingerprint(folder);
    expect(await codeOf(restoreSnapshot(folder, '0007', at))).toBe('not_found');
    expect(fingerprint(folder)).toEqual(before);
  });

  const done = ['noted', 'begun', 'set-aside', 'swapped', 'kept'];
  for (const point of ['copied', ...done]) {
    it(`that ends by SIGKILL after "${point}" is ${done.includes(point) ? 'finished' : 'as if it never was'}`, async () => {
      layers.inside('echo one > file');
      const one = layers.seen();
      const { id } = await take();
      layers.inside('echo two > file');
      const two = layers.seen();
      crash(`restore:${point}`, `await snapshot.restoreSnapshot(${JSON.stringify(folder)}, '${id}', '${at}')`);
      await recoverRestore(folder);
      await recoverRestore(folder);
      expect(layers.seen()).toBe(done.includes(point) ? one : two);
      expect(listSnapshots(folder)).toHaveLength(done.includes(point) ? 2 : 1);
      if (done.includes(point)) await restoreSnapshot(folder, '0002', at);
      expect(layers.seen()).toBe(two);
      expect(readdirSync(folder).sort()).toEqual(['snapshots', 'state']);
      expect(readdirSync(join(folder, 'snapshots')).filter((name) => name.startsWith('.'))).toEqual([]);
    });
  }

  it('removes the leftovers of a snapshot that a crash interrupted, and reuses its number', async () => {
    layers.inside('echo one > file');
    const request = JSON.stringify({ label: null, at, auto: false });
    crash('snapshot:copied', `await snapshot.takeSnapshot(${JSON.stringify(folder)}, ${request})`);
    expect(listSnapshots(folder)).toEqual([]);
    expect((await take()).id).toBe('0001');
    expect(readdirSync(join(folder, 'snapshots'))).toEqual(['0001']);
  });
});

describe('a fork', () => {
  it('starts with the content of the original, and its changes do not affect it', async () => {
    layers.inside(work);
    const fork = layers.sandbox('fork');
    await copyState(folder, fork);
    expect(layers.seen(fork)).toBe(layers.seen());
    layers.inside('echo mine > new', fork);
    expect(layers.inside('cat new linked')).toBe('new\nnew\n');
    expect(layers.inside('cat new linked', fork)).toBe('mine\nmine\n');
    expect(readdirSync(fork)).toEqual(['state']);
  });

  it('does not exist after a SIGKILL half-way, and can be made again', async () => {
    layers.inside(work);
    const fork = layers.sandbox('fork');
    crash('state:filled', `await snapshot.copyState(${JSON.stringify(folder)}, ${JSON.stringify(fork)})`);
    expect(existsSync(join(fork, 'state'))).toBe(false);
    await copyState(folder, fork);
    expect(readdirSync(fork)).toEqual(['state']);
    expect(layers.seen(fork)).toBe(layers.seen());
  });

  it('is refused if the target has a state already', async () => {
    layers.inside(work);
    const fork = layers.sandbox('fork');
    await copyState(folder, fork);
    expect(await codeOf(copyState(folder, fork))).toBe('conflict');
  });
});

if (!isRealRoot) {
  it('without root a sandbox has no disk, but the plain folder', async () => {
    const limit = { kind: 'advisory', reason: 'only root can mount a disk' };
    expect(await ensureDisk(layers.sandbox('other'), 64 * 1024 ** 2)).toEqual(limit);
    expect(readdirSync(layers.sandbox('other'))).toEqual(['state']);
  });
}

/** Goes three times as deep as a path can lead, and makes missing folders. */
function atDepth<T>(top: string, look: (leaf: string) => T): T {
  let here = Anchor.open(top);
  for (let depth = 0; depth < 60; depth += 1) {
    const name = String(depth).padStart(200, 'd');
    if (here.look(name) === null) mkdirSync(here.at(name));
    const next = here.enter(name);
    here.close();
    here = next;
  }
  return within(here, ({ path }) => look(`${path}/`));
}
