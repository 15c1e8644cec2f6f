/** What agents do to a tree. Each case fills a base and then changes a tree that begins as that base. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lutimesSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { at } from './oracle.ts';

export type Tree = (path: string) => Buffer;

export interface Case {
  readonly name: string;
  fill(base: Tree): void;
  change(tree: Tree): void;
  /** Paths the case is about; a case that changed nothing would prove nothing. */
  readonly changed: readonly string[];
}

export function treeAt(root: string): Tree {
  return (path) => at(root, path);
}

/** Moves with `mv`, which copies if the kernel refuses to rename a folder. */
export function move(tree: Tree, from: string, to: string): void {
  execFileSync('mv', ['--', tree(from).toString(), tree(to).toString()]);
}

const invalid = 'not-\xff\xfe-text';
const newline = 'a\nb';
const long = 'x'.repeat(255);

export const cases: readonly Case[] = [
  {
    name: 'files git ignores and files it does not know',
    fill(base) {
      writeFileSync(base('.gitignore'), '*.log\n');
      writeFileSync(base('old.log'), 'old');
    },
    change(tree) {
      appendFileSync(tree('old.log'), 'new');
      writeFileSync(tree('new.log'), 'ignored');
      writeFileSync(tree('untracked'), 'untracked');
    },
    changed: ['new.log', 'old.log', 'untracked'],
  },
  {
    name: 'binary content that differs in one byte at the very end',
    fill(base) {
      writeFileSync(base('binary'), Buffer.alloc(3_000_000, 1));
      writeFileSync(base('chunk'), Buffer.alloc(256 * 1024, 1));
    },
    change(tree) {
      for (const name of ['binary', 'chunk']) {
        const bytes = readFileSync(tree(name));
        bytes[bytes.length - 1] = 0;
        writeFileSync(tree(name), bytes);
      }
    },
    changed: ['binary', 'chunk'],
  },
  {
    name: 'links: added, changed, dangling, absolute, going in circles',
    fill(base) {
      symlinkSync('there', base('link'));
      symlinkSync('same', base('same'));
      symlinkSync('gone', base('gone'));
    },
    change(tree) {
      unlinkSync(tree('link'));
      symlinkSync('here', tree('link'));
      unlinkSync(tree('same'));
      symlinkSync('same', tree('same'));
      unlinkSync(tree('gone'));
      symlinkSync('/nowhere/at/all', tree('dangling'));
      symlinkSync('/etc/shadow', tree('absolute'));
      symlinkSync('circle-b', tree('circle-a'));
      symlinkSync('circle-a', tree('circle-b'));
      symlinkSync(Buffer.from([0xff, 0x0a]), tree('bytes'));
    },
    changed: ['absolute', 'bytes', 'circle-a', 'circle-b', 'dangling', 'gone', 'link'],
  },
  {
    name: 'hard links, in the base and made inside',
    fill(base) {
      writeFileSync(base('one'), 'linked');
      linkSync(base('one'), base('two'));
      writeFileSync(base('single'), 'single');
    },
    change(tree) {
      appendFileSync(tree('one'), '!');
      linkSync(tree('single'), tree('second'));
    },
    changed: ['one', 'second'],
  },
  {
    name: 'modes of files and folders, and modes that are set back',
    fill(base) {
      for (const name of ['file', 'back']) writeFileSync(base(name), name);
      for (const name of ['folder', 'folder-back']) mkdirSync(base(name));
      for (const name of ['file', 'back', 'folder', 'folder-back']) chmodSync(base(name), 0o750);
    },
    change(tree) {
      for (const name of ['file', 'back', 'folder', 'folder-back']) chmodSync(tree(name), 0o700);
      for (const name of ['back', 'folder-back']) chmodSync(tree(name), 0o750);
    },
    changed: ['file', 'folder'],
  },
  {
    name: 'nothing: touched, rewritten the same, added and removed again',
    fill(base) {
      writeFileSync(base('touched'), 'same');
      writeFileSync(base('rewritten'), 'same');
      writeFileSync(base('replaced'), 'same');
      symlinkSync('x', base('link'));
      mkdirSync(base('folder'));
    },
    change(tree) {
      utimesSync(tree('touched'), 1, 1);
      lutimesSync(tree('link'), 1, 1);
      writeFileSync(tree('rewritten'), 'same');
      writeFileSync(tree('new'), 'same');
      renameSync(tree('new'), tree('replaced'));
      writeFileSync(tree('folder/new'), '');
      unlinkSync(tree('folder/new'));
    },
    changed: [],
  },
  {
    name: 'empty folders and deletions',
    fill(base) {
      mkdirSync(base('empty'));
      mkdirSync(base('full/deep/er'), { recursive: true });
      writeFileSync(base('full/deep/er/file'), 'x');
      writeFileSync(base('full/file'), 'x');
      writeFileSync(base('file'), 'x');
      writeFileSync(base('full/kept'), 'x');
    },
    change(tree) {
      rmdirSync(tree('empty'));
      mkdirSync(tree('new-empty'));
      unlinkSync(tree('file'));
      unlinkSync(tree('full/file'));
      remove(tree, 'full/deep');
    },
    changed: ['empty', 'file', 'full/deep', 'full/deep/er', 'full/deep/er/file', 'full/file', 'new-empty'],
  },
  {
    name: 'folders removed and made again, the same in part',
    fill(base) {
      mkdirSync(base('folder/sub/sub'), { recursive: true });
      for (const name of ['folder/a', 'folder/b', 'folder/sub/c', 'folder/sub/sub/d']) writeFileSync(base(name), name);
    },
    change(tree) {
      remove(tree, 'folder');
      mkdirSync(tree('folder/sub'), { recursive: true });
      writeFileSync(tree('folder/a'), 'folder/a');
      writeFileSync(tree('folder/sub/c'), 'other');
      writeFileSync(tree('folder/new'), 'new');
    },
    changed: ['folder/b', 'folder/new', 'folder/sub/c', 'folder/sub/sub', 'folder/sub/sub/d'],
  },
  {
    name: 'every type turned into every other',
    fill(base) {
      for (const to of ['file', 'folder', 'link', 'fifo']) makeAll(base, to);
    },
    change(tree) {
      for (const from of ['file', 'folder', 'link']) {
        for (const to of ['file', 'folder', 'link', 'fifo']) {
          remove(tree, `${from}-${to}`);
          make(tree, to, `${from}-${to}`, 'after');
        }
      }
    },
    changed: ['file-file', 'file-folder', 'folder-file', 'folder-file/inside', 'link-fifo', 'link-folder/inside'],
  },
  {
    name: 'names with spaces, newlines, leading dashes, of 255 bytes, and that are no text',
    fill(base) {
      for (const name of ['with space', newline, '-rf', long, invalid]) writeFileSync(base(name), 'old');
      for (const name of [`d ${newline}`, `d${invalid}`]) {
        mkdirSync(base(name));
        writeFileSync(base(`${name}/${invalid}`), 'old');
      }
    },
    change(tree) {
      for (const name of ['with space', newline, '-rf', long]) appendFileSync(tree(name), 'new');
      unlinkSync(tree(invalid));
      writeFileSync(tree(`new-${invalid}`), 'new');
      appendFileSync(tree(`d ${newline}/${invalid}`), 'new');
      remove(tree, `d${invalid}`);
      writeFileSync(tree(`\xe4\xf6 ${'y'.repeat(250)}`), 'new');
    },
    changed: ['-rf', newline, `d ${newline}/${invalid}`, `d${invalid}`, invalid, `new-${invalid}`, long],
  },
  {
    name: 'files and folders moved',
    fill(base) {
      writeFileSync(base('from'), 'content');
      writeFileSync(base('over'), 'content to be replaced');
      writeFileSync(base('by'), 'other');
      mkdirSync(base('folder/sub'), { recursive: true });
      writeFileSync(base('folder/sub/file'), 'x');
    },
    change(tree) {
      renameSync(tree('from'), tree('to'));
      renameSync(tree('by'), tree('over'));
      move(tree, 'folder', 'moved');
      mkdirSync(tree('own'));
      writeFileSync(tree('own/file'), 'x');
      renameSync(tree('own'), tree('folder'));
    },
    changed: ['by', 'folder/file', 'folder/sub', 'from', 'moved/sub/file', 'over', 'to'],
  },
  {
    name: 'folders without read permission',
    fill(base) {
      mkdirSync(base('closed'));
      writeFileSync(base('closed/file'), 'x');
    },
    change(tree) {
      writeFileSync(tree('closed/file'), 'y');
      mkdirSync(tree('new'));
      writeFileSync(tree('new/file'), 'x');
      for (const name of ['closed/file', 'closed', 'new/file', 'new']) chmodSync(tree(name), 0);
    },
    changed: ['closed', 'closed/file', 'new', 'new/file'],
  },
  {
    name: 'sizes: emptied, cut, grown with holes',
    fill(base) {
      for (const name of ['emptied', 'cut', 'grown']) writeFileSync(base(name), 'twelve bytes');
      writeFileSync(base('empty'), '');
    },
    change(tree) {
      truncateSync(tree('emptied'), 0);
      truncateSync(tree('cut'), 5);
      truncateSync(tree('grown'), 10_000_000);
      writeFileSync(tree('new-empty'), '');
      writeFileSync(tree('empty'), 'x');
    },
    changed: ['cut', 'emptied', 'empty', 'grown', 'new-empty'],
  },
];

export function remove(tree: Tree, path: string): void {
  rmSync(tree(path), { recursive: true });
}

function makeAll(base: Tree, to: string): void {
  for (const from of ['file', 'folder', 'link']) make(base, from, `${from}-${to}`, 'before');
}

export function make(tree: Tree, type: string, path: string, content: string): void {
  if (type === 'file') writeFileSync(tree(path), content);
  else if (type === 'link') symlinkSync(content, tree(path));
  else if (type === 'fifo') execFileSync('mkfifo', ['--', tree(path).toString()]);
  else {
    mkdirSync(tree(path));
    writeFileSync(tree(`${path}/inside`), content);
  }
}
