/** Diffs and summaries of real trees, by real git. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fromText } from '../../src/model/byte-path.ts';
import { openStore } from '../../src/noun/workspace/git/review/git-store.ts';
import { type ChangeSummary, summary, unifiedDiff } from '../../src/noun/workspace/git/review/review.ts';
import type { Change } from '../../src/noun/workspace/model/change.ts';
import { type Files, put, workingCopy } from '../harness/working-copy.ts';

const root = mkdtempSync(join(tmpdir(), 'carrel-review-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const workspace = (files: Files, run: (tree: string) => void) => workingCopy(root, files, run);

function store(changes: readonly Change[]) {
  return openStore({ changes, folder: mkdtempSync(join(root, 'store-')) });
}

async function diff(changes: readonly Change[], hiddenInGit = 0): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of unifiedDiff(await store(changes), {
    hiddenInGit,
    ignored: { files: 0, more: false, places: [] },
  }))
    chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}

async function summaries(changes: readonly Change[]): Promise<Record<string, ChangeSummary>> {
  return Object.fromEntries((await summary(await store(changes))).map((one) => [one.path, one]));
}

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8' });
}

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
const lines = (count: number) => Array.from({ length: count }, (_, n) => `line ${n}\n`).join('');

describe('text', () => {
  it('is shown as git shows it, with renames, and git apply makes the same tree from it', async () => {
    const files = {
      'a.txt': lines(30),
      'gone.txt': 'x\n',
      'sub/moved.txt': lines(50),
      crlf: 'a\r\nb\r\n',
      'no end': 'x',
    };
    const { base, tree, changes } = workspace(files, (tree) => {
      writeFileSync(join(tree, 'a.txt'), lines(30).replace('line 7\n', 'line seven\n'));
      rmSync(join(tree, 'gone.txt'));
      rmSync(join(tree, 'sub'), { recursive: true });
      put(tree, {
        'new/moved.txt': `${lines(50)}more\n`,
        'tab\tand\n"quote"': 'new\n',
        crlf: 'a\r\nc\r\n',
        'no end': 'y',
      });
      symlinkSync('../../etc/passwd', join(tree, 'link'));
      chmodSync(join(tree, 'a.txt'), 0o755);
    });
    const text = await diff(changes);
    expect(text).toContain('diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n');
    expect(text).toContain('-line 7\n+line seven\n');
    expect(text).toContain('rename from sub/moved.txt\nrename to new/moved.txt\n');
    expect(text).toContain('+++ "b/tab\\tand\\n\\"quote\\""\n');
    expect(text).toContain('new file mode 120000\n');
    expect(spawnSync('git', ['apply', '-'], { cwd: base, input: Buffer.from(text, 'latin1') }).status).toBe(0);
    expect(spawnSync('diff', ['-r', '--no-dereference', base, tree], { encoding: 'utf8' }).stdout).toBe('');
  });

  it('may have names of any bytes, which the summary returns exactly', async () => {
    const name = Buffer.from([0x66, 0xff, 0x0a, 0x1b, 0x5b, 0x32, 0x4a]);
    const { changes } = workspace({}, (tree) => {
      writeFileSync(Buffer.concat([Buffer.from(`${tree}/`), name]), 'x\n');
      put(tree, { 'grüße.txt': 'x y\n' });
    });
    const text = await diff(changes);
    expect(text).toContain('+++ "b/f\\377\\n\\033[2J"\n');
    expect(text).toContain('+++ "b/gr\\303\\274\\303\\237e.txt"\n');
    expect(text).not.toContain('\u001b');
    const found = await summary(await store(changes));
    expect(found.map(({ path, pathBase64 }) => [path, pathBase64])).toEqual([
      ['f\ufffd\n\u001b[2J', name.toString('base64')],
      ['grüße.txt', undefined],
    ]);
  });

  it('is shown as text whatever the attributes of the project say', async () => {
    const attributes = '* -diff\n*.txt diff=evil binary filter=evil\n';
    const { changes } = workspace({ '.gitattributes': attributes, 'a.txt': 'old\n' }, (tree) =>
      put(tree, { 'a.txt': 'new\n', '.gitattributes': `${attributes}# more\n` }),
    );
    const text = await diff(changes);
    expect(text).toContain('-old\n+new\n');
    expect(text).toContain('+# more\n');
  });

  it('is shown byte by byte even if it is not UTF-8', async () => {
    const { changes } = workspace({ a: Buffer.from([0xff, 0xfe, 0x0a]) }, (tree) =>
      writeFileSync(join(tree, 'a'), Buffer.from([0x1b, 0x5b, 0xff, 0x0a])),
    );
    expect(await diff(changes)).toContain('-\xff\xfe\n+\x1b[\xff\n');
  });
});

describe('a file whose content is not shown', () => {
  const before = Buffer.from('a\0b');
  const after = Buffer.from('a\0bc');

  it('is summarised with sizes and hashes, and makes git apply refuse', async () => {
    const large = 'x'.repeat(1024 * 1024 + 1);
    const { base, changes } = workspace(
      { image: before, 'moved.bin': Buffer.from('\0same'), 'old.bin': before },
      (tree) => {
        put(tree, { image: after, large, 'there.bin': Buffer.from('\0same') });
        rmSync(join(tree, 'moved.bin'));
        rmSync(join(tree, 'old.bin'));
      },
    );
    const text = Buffer.from(await diff(changes), 'latin1').toString('utf8');
    expect(text).toContain(
      '\nBinary files a/image and b/image differ\n' +
        `Binary file image changed: 3 B sha256:${sha256(before)} → 4 B sha256:${sha256(after)}\n`,
    );
    expect(text).toContain(`Large file large added: 1048577 B sha256:${sha256(large)}\n`);
    expect(text).toContain(`Binary file old.bin deleted: 3 B sha256:${sha256(before)}\n`);
    expect(text).toContain('rename from moved.bin\nrename to there.bin\n');
    expect(text).toContain('\nindex 0000000..0000000\nBinary files /dev/null and b/large differ\n');
    expect(text).not.toContain('xxx');
    const applied = spawnSync('git', ['apply', '-'], { cwd: base, input: text, encoding: 'utf8' });
    expect(applied.stderr).toContain('cannot apply binary patch');
    const found = await summaries(changes);
    expect(found.image).toMatchObject({ status: 'M', insertions: null, deletions: null, oldSize: 3, newSize: 4 });
    expect(found.image).toMatchObject({ oldSha256: sha256(before), newSha256: sha256(after) });
    expect(found['there.bin']).toMatchObject({ status: 'R', from: 'moved.bin' });
    expect(found['moved.bin']).toBeUndefined();
    expect(found.large).toMatchObject({ status: 'A', insertions: null, newSha256: sha256(large) });
  });

  it('is not passed to git if it is a long binary file, and its move is still found', async () => {
    const long = Buffer.alloc(200_000, 'ab\0');
    const { changes } = workspace({ 'moved.bin': long, 'changed.bin': long }, (tree) => {
      put(tree, { 'there.bin': long, 'changed.bin': Buffer.concat([long, after]) });
      rmSync(join(tree, 'moved.bin'));
    });
    const text = Buffer.from(await diff(changes), 'latin1').toString('utf8');
    expect(text).toContain('similarity index 100%\nrename from moved.bin\nrename to there.bin\n');
    expect(text).toContain(
      '\nindex 0000000..0000000 100644\nBinary files a/changed.bin and b/changed.bin differ\n' +
        `Binary file changed.bin changed: 200000 B sha256:${sha256(long)} → 200004 B sha256:`,
    );
    const stored = git((await store(changes)).git.cwd, 'count-objects', '-v');
    expect(Number(/^size-pack: (\d+)$/m.exec(stored)?.[1])).toBeLessThan(10);
  });

  it('is shown as a deletion and a new link if it became a link', async () => {
    const { changes } = workspace({ a: before }, (tree) => {
      rmSync(join(tree, 'a'));
      symlinkSync('target', join(tree, 'a'));
    });
    const text = await diff(changes);
    expect(text).toContain(`Binary file a deleted: 3 B sha256:${sha256(before)}\n`);
    expect(text).toContain('new file mode 120000\n');
    expect(text).toContain('+target\n');
    expect((await summaries(changes)).a).toMatchObject({ status: 'T', oldType: 'file', newType: 'link' });
  });

  it('is marked as no longer there if it was removed meanwhile', async () => {
    const { tree, changes } = workspace({ a: 'old\n' }, (tree) => put(tree, { a: 'new\n', b: 'b\n' }));
    rmSync(join(tree, 'a'));
    mkdirSync(join(tree, 'a'));
    const text = await diff(changes);
    expect(text).toContain('Unreadable file a changed: 4 B sha256:');
    expect(text).toContain('(no longer there)');
    expect(text).toContain('+++ b/b\n');
  });
});

describe('a change that git cannot show', () => {
  it('is described in words after the diff', async () => {
    const { changes } = workspace({ secret: 'x\n', 'was/full': 'x\n', plain: 'x\n' }, (tree) => {
      mkdirSync(join(tree, 'empty/deep'), { recursive: true });
      chmodSync(join(tree, 'secret'), 0o600);
      chmodSync(join(tree, 'was'), 0o700);
      execFileSync('mkfifo', ['-m', '644', join(tree, 'pipe')]);
      rmSync(join(tree, 'plain'));
      mkdirSync(join(tree, 'plain'));
      put(tree, { open: 'new\n' });
      chmodSync(join(tree, 'open'), 0o666);
    });
    const text = await diff([...changes, unknown('moved')], 3);
    const notes = text.split('\n').slice(-9);
    expect(notes).toEqual([
      'create folder empty/deep',
      'create mode 0666 open',
      'create fifo pipe',
      'type change file => folder plain',
      'mode change 0644 => 0600 secret',
      'mode change 0755 => 0700 was',
      'base unknown moved: compared with what the project has now',
      '3 paths inside .git differ and are not shown',
      '',
    ]);
  });

  function unknown(path: string): Change {
    const entry = { type: 'file', mode: 0o644, sizeBytes: 0, target: null } as const;
    return {
      path: fromText(path),
      before: { ...entry, mode: 0o755 },
      after: entry,
      beforeContent: { at: 'tree', root },
      afterContent: { at: 'tree', root },
      baseKnown: false,
    };
  }

  it('is shown as a file like any other if it is one of several hard links', async () => {
    const { changes } = workspace({ a: 'x\n', b: 'y\n', c: 'x\n' }, (tree) => {
      put(tree, { new: 'n\n' });
      for (const name of ['b', 'c']) rmSync(join(tree, name));
      for (const [from, to] of [
        ['a', 'b'],
        ['a', 'c'],
        ['new', 'twin'],
      ])
        linkSync(join(tree, from!), join(tree, to!));
    });
    expect(await diff(changes)).toMatch(
      /-y\n\+x\n(?:.*\n)*.* b\/new\n(?:.*\n)*\+n\n(?:.*\n)*.* b\/twin\n(?:.*\n)*\+n\n$/,
    );
    const all = Object.values(await summaries(changes)).map(({ path, status, insertions }) => [
      path,
      status,
      insertions,
    ]);
    expect(all).toEqual([
      ['b', 'M', 1],
      ['new', 'A', 1],
      ['twin', 'A', 1],
    ]);
  });

  it('is noted if its path lies below a file, which happens only while the tree changes', async () => {
    const { changes } = workspace({}, (tree) => put(tree, { a: 'x\n', b: 'y\n' }));
    const below = { ...changes[1]!, path: 'a/b' };
    expect(await diff([changes[0]!, below])).toContain('\nnot shown a/b: it changed while it was read\n');
  });
});

describe('a change inside .git', () => {
  it('is shown under its own name if it can run something', async () => {
    const name = '.git/hooks/pre-commit';
    const { changes } = workspace({}, (tree) =>
      put(tree, { [name]: 'evil\n', 'sub/.GIT/config': '[core]\n', [`x${name}`]: 'y\n' }),
    );
    const text = await diff(changes);
    expect(text).toContain(`+++ b/${name}\n`);
    expect(text).toContain('+++ b/sub/.GIT/config\n');
    expect(text).not.toMatch(/[0-9a-f]{24}/);
    expect((await summaries(changes))[name]).toMatchObject({ status: 'A', insertions: 1, deletions: 0 });
  });
});

describe('a summary', () => {
  it('has every path once, sorted, with its status', async () => {
    const { changes } = workspace({ a: lines(9), b: lines(20), 'd/e': 'x\n' }, (tree) => {
      put(tree, { a: `${lines(9)}10\n` });
      rmSync(join(tree, 'b'));
      put(tree, { c: `${lines(20)}21\n` });
      rmSync(join(tree, 'd'), { recursive: true });
      put(tree, { d: 'now a file\n' });
    });
    const found = await summary(await store(changes));
    expect(
      found.map(({ path, status, from, insertions, deletions }) => [path, status, from, insertions, deletions]),
    ).toEqual([
      ['a', 'M', undefined, 1, 0],
      ['c', 'R', 'b', 1, 0],
      ['d', 'T', undefined, 1, 0],
      ['d/e', 'D', undefined, 0, 1],
    ]);
    expect(found[0]).toMatchObject({ oldMode: '0644', newMode: '0644', oldType: 'file', baseKnown: true });
  });

  it('of no changes is empty', async () => {
    expect(await summary(await store([]))).toEqual([]);
    expect(await diff([])).toBe('');
  });
});

it('ten times as many changes take about ten times as long', async () => {
  const files = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`d${n % 100}/f${n}`, `${lines(20)}${n}\n`]));
  const { changes } = workspace(files, (tree) => {
    for (const name of Object.keys(files)) writeFileSync(join(tree, name), files[name]!.replace('line 7\n', 'seven\n'));
  });
  const ticksFor = async (count: number) => {
    const before = processorTicks();
    expect((await diff(changes.slice(0, count))).match(/^diff --git /gm)).toHaveLength(count);
    return processorTicks() - before;
  };
  const some = await ticksFor(300);
  expect(await ticksFor(3000)).toBeLessThan(40 * some);
});

/** The processor time of this process and of the children that it has waited for, however busy the machine is. */
function processorTicks(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
}

it('a review changes nothing in a repository of the project', async () => {
  const { base, changes } = workspace({ a: 'x\n' }, (tree) => put(tree, { a: 'y\n' }));
  git(base, 'init', '-q');
  const before = git(base, 'status', '--porcelain');
  await diff(changes);
  expect(git(base, 'status', '--porcelain')).toBe(before);
});
