/**
 * Copies files between the host and a sandbox: `push` writes into a sandbox, `pull` takes from it, both as a tar stream
 * between this client and a tar inside. This file says which way a copy goes: one side is NAME:PATH, the other is a path
 * on the host.
 *
 * Promises:
 * - What an agent can write leads nowhere: a path on the host is opened component by component, and a link is followed
 *   only where no sandbox can write (`open-host-folder.ts`).
 * - `pull` unpacks into a private folder, checks what came, and renames it into place, so a stream that breaks off leaves
 *   nothing at the destination. It never writes through a link.
 * - Refused: a copy with both sides or no side in a sandbox, the root of the host as source, and a source on the host that
 *   is neither a file nor a folder.
 */
import { posix } from 'node:path';
import { Fault } from '../../../../model/fault.ts';
import { checkSandboxName, printable } from '../../../../model/name.ts';

export interface CopyPath {
  /** Null: the path is on the host. */
  readonly sandbox: string | null;
  readonly path: string;
}

export type Copy =
  | { readonly way: 'in'; readonly sandbox: string; readonly from: string; readonly to: string }
  | { readonly way: 'out'; readonly sandbox: string; readonly from: string; readonly to: string };

/** A colon before the first slash ends the name of a sandbox; a file with a colon is written `./a:b`. */
export function parseCopyPath(text: string): CopyPath {
  if (text === '') throw new Fault('invalid', 'a path is empty', { hint: 'Write . for the current folder.' });
  const name = /^([^/.][^/:]*):/.exec(text)?.[1];
  if (name === undefined) return { sandbox: null, path: text };
  return { sandbox: checkSandboxName(name), path: text.slice(name.length + 1) || '.' };
}

export function parseCopy(source: string, destination: string): Copy {
  const from = parseCopyPath(source);
  const to = parseCopyPath(destination);
  if (from.sandbox === null && to.sandbox !== null) {
    return { way: 'in', sandbox: to.sandbox, from: from.path, to: to.path };
  }
  if (from.sandbox !== null && to.sandbox === null) {
    return { way: 'out', sandbox: from.sandbox, from: from.path, to: to.path };
  }
  throw new Fault('invalid', `${printable(source)} and ${printable(destination)}: one side must be in a sandbox`, {
    hint: 'Write that side as NAME:PATH, such as: carrel cp notes.md my-sandbox:/tmp/',
  });
}

/** Whether the path means the content of a folder (`folder/.`) and not the folder itself, as in `cp`. */
export function meansContents(path: string): boolean {
  return /(^|\/)\.$/.test(path);
}

export function meansFolder(path: string): boolean {
  return path.endsWith('/') || meansContents(path) || /(^|\/)\.\.$/.test(path);
}

/** The last name of a path as written; null for `/`, `.` and `..`. */
export function lastName(path: string): string | null {
  const name = posix.basename(path);
  return name === '' || name === '.' || name === '..' ? null : name;
}

/** The path in a form that no program parses as an option. */
export function operand(path: string): string {
  return path.startsWith('-') ? `./${path}` : path;
}
