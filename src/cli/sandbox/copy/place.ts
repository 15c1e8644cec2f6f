/** The two sides of `cp`: a path here, or NAME:PATH. */
import { posix } from 'node:path';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName, printable } from '../../../model/name.ts';

export interface Place {
  /** Null: on the host. */
  readonly sandbox: string | null;
  readonly path: string;
}

export type Copy =
  | { readonly way: 'in'; readonly sandbox: string; readonly from: string; readonly to: string }
  | { readonly way: 'out'; readonly sandbox: string; readonly from: string; readonly to: string };

/** A colon before the first slash makes it a sandbox; `./a:b` is how a file with a colon is written. */
export function parsePlace(text: string): Place {
  if (text === '') throw new Fault('invalid', 'a path is empty', { hint: 'Write . for the current folder.' });
  const name = /^([^/.][^/:]*):/.exec(text)?.[1];
  if (name === undefined) return { sandbox: null, path: text };
  return { sandbox: checkSandboxName(name), path: text.slice(name.length + 1) || '.' };
}

export function parseCopy(source: string, destination: string): Copy {
  const from = parsePlace(source);
  const to = parsePlace(destination);
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

/** Whether only what is inside is meant (`folder/.`), as `cp` has it. */
export function meansContents(path: string): boolean {
  return /(^|\/)\.$/.test(path);
}

export function meansFolder(path: string): boolean {
  return path.endsWith('/') || meansContents(path) || /(^|\/)\.\.$/.test(path);
}

/** The last name of a path as it was written; null where it has none of its own. */
export function lastName(path: string): string | null {
  const name = posix.basename(path);
  return name === '' || name === '.' || name === '..' ? null : name;
}

/** A path that no program takes for an option. */
export function operand(path: string): string {
  return path.startsWith('-') ? `./${path}` : path;
}
