/** Host → sandbox: tar here, untar inside. */
import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync, type Stats, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix, resolve } from 'node:path';
import type { ExecTarget } from '../../../../client/stream/stream.ts';
import type { Anchor } from '../../../../lib/file/anchor.ts';
import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import { execInside } from '../stream/exec.ts';
import { lastName, meansContents, meansFolder, operand } from './copy.ts';
import { ask, kindOf, unpacksSparse } from './inside.ts';
import { openHostFolder } from './open-host-folder.ts';
import { collectOutput, failedInside, packHere, type Tar } from './tar.ts';

export async function push(inside: ExecTarget, from: string, to: string, writable: readonly string[]): Promise<void> {
  const source = resolve(from);
  if (source === '/') throw new Fault('invalid', 'the whole root of the host cannot be copied');
  const parent = openHostFolder(dirname(source), writable);
  try {
    const name = lastName(source)!;
    const stat = parent.look(name);
    if (!stat) throw new Fault('not_found', `${printable(from)} does not exist`, { hint: 'Check how it is spelled.' });
    if (stat.isDirectory()) return await pushFolder(inside, parent, name, from, to);
    if (!stat.isFile()) throw oddSource(from, stat.isSymbolicLink());
    if (meansFolder(from)) throw new Fault('invalid', `${printable(from)} is not a folder`);
    await pushFile(inside, parent, name, to);
  } finally {
    parent.close();
  }
}

async function pushFolder(inside: ExecTarget, parent: Anchor, name: string, from: string, to: string): Promise<void> {
  const kind = await kindOf(inside, to);
  const into = kind === 'folder' && !meansContents(from);
  const target = into ? `${to}/${name}` : to;
  const there = into ? await kindOf(inside, target) : kind;
  if (there === 'other') throw notFolder(inside, target);
  if (there === 'absent') await ask(inside, ['mkdir', operand(target)]);
  const folder = parent.enter(name);
  try {
    const sparse = await unpacksSparse(inside);
    await stream(inside, await packHere(folder.path, ['--', '.'], sparse), target);
  } finally {
    folder.close();
  }
}

async function pushFile(inside: ExecTarget, parent: Anchor, name: string, to: string): Promise<void> {
  const kind = await kindOf(inside, to);
  if (kind !== 'folder' && meansFolder(to)) throw notFolder(inside, to);
  const target = kind === 'folder' ? `${to}/${name}` : to;
  const file = openSync(parent.at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const folder = mkdtempSync(join(tmpdir(), 'carrel-cp-'));
  try {
    // tar names an entry after the file that it reads. A link to the open file gives the entry the wanted name.
    const entry = posix.basename(target);
    symlinkSync(`/proc/${process.pid}/fd/${file}`, join(folder, entry));
    const sparse = hasHoles(fstatSync(file)) && (await unpacksSparse(inside));
    await stream(inside, await packHere(folder, ['-h', '--', entry], sparse), posix.dirname(target));
  } finally {
    rmSync(folder, { recursive: true, force: true });
    closeSync(file);
  }
}

async function stream(inside: ExecTarget, tar: Tar, folder: string): Promise<void> {
  const { sinks, stderr } = collectOutput();
  const unpack = ['tar', '-C', operand(folder), '-xf', '-', '--no-same-owner'];
  const { output } = tar;
  try {
    const exit = await execInside(inside, unpack, sinks, { input: output });
    // When tar inside fails, tar here ends with a broken pipe: the error from inside is reported.
    const complete = output.readableEnded;
    output.destroy();
    const failure = await tar.ended;
    if (complete && failure) throw failure;
    if (exit.exitCode !== 0) throw failedInside('tar', exit, stderr);
  } finally {
    output.destroy();
    tar.child.kill();
    await tar.ended;
  }
}

function hasHoles({ size, blocks }: Stats): boolean {
  return blocks * 512 < size;
}

function notFolder({ name }: ExecTarget, path: string): Fault {
  return new Fault('invalid', `${name}:${printable(path)} is not a folder`);
}

function oddSource(from: string, link: boolean): Fault {
  if (!link) return new Fault('invalid', `${printable(from)} is neither a file nor a folder`);
  return new Fault('invalid', `${printable(from)} is a symbolic link`, { hint: 'Name the file it leads to.' });
}
