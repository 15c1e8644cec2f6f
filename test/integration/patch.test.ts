/** Patches as mails, checked with real `git am`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makePatch, type PatchHead } from '../../src/noun/workspace/git/review/patch.ts';
import type { Change } from '../../src/noun/workspace/model/change.ts';
import { type Files, put, type WorkingCopy, workingCopy } from '../harness/working-copy.ts';

const root = mkdtempSync(join(tmpdir(), 'carrel-patch-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const author = { name: 'Ann', email: 'ann@example.org' };
const head: PatchHead = { subject: 'Change things', author, date: new Date('2024-11-15T10:00:00Z') };
const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
const identity = ['-c', 'user.name=Owner', '-c', 'user.email=owner@example.org'];

function git(cwd: string, args: readonly string[], input?: Buffer) {
  const ran = spawnSync('git', [...identity, ...args], { cwd, env, input });
  return { status: ran.status, out: ran.stdout.toString('utf8'), said: ran.stderr.toString('utf8') };
}

async function patch(changes: readonly Change[], given: Partial<PatchHead> = {}) {
  const { mail, leftOut } = await makePatch(changes, mkdtempSync(join(root, 'scratch-')), { ...head, ...given });
  const chunks: Buffer[] = [];
  for await (const chunk of mail) chunks.push(chunk);
  return { mail: Buffer.concat(chunks), leftOut };
}

/** Commits the base, applies, and compares with the working copy. */
async function am(copy: WorkingCopy, given: Partial<PatchHead> = {}) {
  const { mail, leftOut } = await patch(copy.changes, given);
  git(copy.base, ['init', '-q']);
  git(copy.base, ['add', '-Af']);
  git(copy.base, ['commit', '-q', '--allow-empty', '-m', 'base']);
  const { status, said } = git(copy.base, ['am'], mail);
  expect(status, said).toBe(0);
  const differs = spawnSync('diff', ['-r', '--no-dereference', '-x', '.git', copy.base, copy.tree], {
    encoding: 'utf8',
  });
  return {
    leftOut,
    differs: differs.stdout,
    log: (format: string) => git(copy.base, ['log', '-1', `--format=${format}`]).out,
  };
}

const copy = (files: Files, run: (tree: string) => void) => workingCopy(root, files, run);
const lines = (count: number, end = '\n') => Array.from({ length: count }, (_, n) => `line ${n}${end}`).join('');

describe('git am', () => {
  it('makes the same tree from every kind of change that git can store', async () => {
    const image = randomBytes(5000);
    const files = {
      a: lines(20),
      gone: 'x\n',
      'd/old': lines(40),
      image,
      crlf: lines(9, '\r\n'),
      'end ': 'x ',
      mixed: 'a\r\nb\n',
    };
    const done = await am(
      copy(files, (tree) => {
        put(tree, {
          a: lines(20).replace('line 3', 'drei'),
          image: Buffer.concat([image, image]),
          large: randomBytes(1.5e6),
        });
        put(tree, {
          crlf: lines(9, '\r\n').replace('line 3', 'drei = 3'),
          'end ': 'y\t',
          mixed: 'a\nb\r\n',
          empty: '',
        });
        put(tree, { late: `${'x'.repeat(9000)}\0\n`, long: 'ü'.repeat(3000), bytes: Buffer.from([0xff, 0x0a]) });
        put(tree, { 'new\n"name"': 'x\n', 'grüße/日本': 'x\n', 'large.txt': lines(200_000, '\r\n') });
        rmSync(join(tree, 'gone'));
        renameSync(join(tree, 'd/old'), join(tree, 'new'));
        rmSync(join(tree, 'd'), { recursive: true });
        put(tree, { d: 'a file now\n' });
        symlinkSync('some where', join(tree, 'link'));
        chmodSync(join(tree, 'a'), 0o755);
      }),
    );
    expect(done.differs).toBe('');
    expect(done.leftOut).toEqual([]);
    expect(done.log('%an|%ae|%aI|%s|%b')).toBe('Ann|ann@example.org|2024-11-15T10:00:00+00:00|Change things|\n');
  });

  it('is not misled by the texts of author, subject and message', async () => {
    const done = await am(
      copy({}, (tree) => put(tree, { a: 'x\n' })),
      {
        subject: `Grüße\nX-Evil: 1\r\n\r\n${'日本'.repeat(60)} =?UTF-8?B?eA==?=`,
        author: { name: 'Ünn "x" <a@b>\nBcc: y', email: 'a b>\n<c@d' },
        body: 'From: Mallory <m@m>\nSubject: other\n\ntext\n---\ndiff --git a/x b/x\nFrom 1 Mon Sep 17 00:00:00 2001\nend',
      },
    );
    expect(done.differs).toBe('');
    expect(done.log('%s')).toBe(`Grüße X-Evil: 1 ${'日本'.repeat(60)} =?UTF-8?B?eA==?=\n`);
    expect(done.log('%an|%ae')).toBe('Ünn x ab Bcc: y|abc@d\n');
    expect(done.log('%b')).toContain('Mallory');
    expect(done.log('%b')).toContain('\ntext\n ---\n diff --git a/x b/x\n From 1 Mon Sep 17 00:00:00 2001\nend\n');
  });
});

describe('a change that a patch cannot hold', () => {
  it('is listed as left out', async () => {
    const made = await am(
      copy({ secret: 'x\n', 'full/a': 'x\n' }, (tree) => {
        put(tree, { '.git/hooks/pre-commit': 'evil\n', 'new/file': 'new\n' });
        mkdirSync(join(tree, 'empty'));
        chmodSync(join(tree, 'secret'), 0o600);
        execFileSync('mkfifo', [join(tree, 'pipe')]);
      }),
    );
    expect(made.leftOut).toEqual(['.git/hooks', '.git/hooks/pre-commit', 'empty', 'pipe', 'secret']);
  });

  it('alone makes no mail', async () => {
    const { changes } = copy({}, (tree) => mkdirSync(join(tree, 'empty')));
    expect(await patch(changes)).toEqual({ mail: Buffer.alloc(0), leftOut: ['empty'] });
  });

  it('may be a change whose content was removed or replaced', async () => {
    const { tree, changes } = copy({}, (tree) => put(tree, { a: 'x\n', b: 'y\n' }));
    rmSync(join(tree, 'a'));
    writeFileSync(join(tree, 'b'), 'z\n');
    const { mail, leftOut } = await patch(changes);
    expect(leftOut).toEqual(['a']);
    expect(mail.toString()).toContain('+z\n');
  });
});

it('a patch without a subject is refused', async () => {
  await expect(patch([], { subject: ' \n' })).rejects.toMatchObject({ code: 'invalid' });
});
