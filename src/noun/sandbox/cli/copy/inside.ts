/** Facts about paths in a sandbox, found by programs that run inside it. */

import type { ExecTarget } from '../../../../client/stream/stream.ts';
import { execInside } from '../stream/exec.ts';
import { operand } from './copy.ts';
import { collectOutput, failedInside } from './tar.ts';

export type PathKind = 'folder' | 'other' | 'absent';

export async function kindOf(inside: ExecTarget, path: string): Promise<PathKind> {
  if (await test(inside, '-d', path)) return 'folder';
  return (await test(inside, '-e', path)) ? 'other' : 'absent';
}

/** Runs a program inside and resolves to its stdout; throws if it fails. */
export async function ask(inside: ExecTarget, command: string[]): Promise<string> {
  const { sinks, stdout, stderr } = collectOutput();
  const exit = await execInside(inside, command, sinks);
  if (exit.exitCode !== 0) throw failedInside(command[0]!, exit, stderr);
  return stdout.text;
}

/** Whether the tar inside supports sparse files; busybox's tar does not. */
export async function unpacksSparse(inside: ExecTarget): Promise<boolean> {
  const { sinks, stdout } = collectOutput();
  await execInside(inside, ['tar', '--version'], sinks);
  return /GNU tar|bsdtar/.test(stdout.text);
}

async function test(inside: ExecTarget, question: string, path: string): Promise<boolean> {
  const { sinks, stderr } = collectOutput();
  const exit = await execInside(inside, ['test', question, operand(path)], sinks);
  if (exit.exitCode > 1) throw failedInside('test', exit, stderr);
  return exit.exitCode === 0;
}
