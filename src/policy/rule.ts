/** Rules as data: which words a command begins with, and what may follow. Nothing else is allowed by it. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { sandboxNamePattern } from '../model/name.ts';
import { engineNames } from '../model/sandbox.ts';
import { containerNamePattern, containerStatuses } from '../model/swarm.ts';
import { branchNamePattern, containerIdPattern, storyIdPattern, storyStatuses } from '../model/swarm-message.ts';
import { isInsidePath } from './inside.ts';
import type { Surroundings } from './policy.ts';

/** What an argument, or the value of a flag, may be. */
export type Kind =
  | 'sandbox'
  | 'container'
  | 'containerId'
  | 'branch'
  | 'path'
  | 'project'
  | 'paths'
  | 'story'
  | 'storyStatus'
  | 'containerStatus'
  | 'progress'
  | 'count'
  | 'size'
  | 'word'
  | 'text'
  | 'mode'
  | 'engine'
  | 'agent';

export interface Rule {
  /** What the command begins with, after the program. */
  readonly words: readonly string[];
  /** The arguments, in order; those in `more` may be left out, and `rest` may come any number of times. */
  readonly args?: readonly Kind[];
  readonly more?: readonly Kind[];
  readonly rest?: Kind;
  /** Flags by name; null: it takes no value. */
  readonly flags?: Readonly<Record<string, Kind | null>>;
  /** A flag that has to be there. */
  readonly needs?: string;
  /** The flag that names its project; without it the working folder is that. */
  readonly orHere?: string;
  /** What may follow after `--`; left out: nothing may. */
  readonly command?: 'adapter';
}

function oneOf(words: readonly string[]): RegExp {
  return new RegExp(`^(${words.join('|')})$`);
}

const patterns: { readonly [kind in Exclude<Kind, 'path' | 'paths' | 'project'>]: RegExp } = {
  sandbox: sandboxNamePattern,
  container: containerNamePattern,
  containerId: containerIdPattern,
  branch: branchNamePattern,
  story: storyIdPattern,
  storyStatus: oneOf(storyStatuses),
  containerStatus: oneOf(containerStatuses),
  progress: /^\{[a-zA-Z0-9":, ]{0,500}\}$/,
  count: /^\d{1,9}(\.\d{1,6})?$/,
  size: /^\d{1,9}(\.\d{1,6})?[kmgtKMGT]?i?b?$/,
  word: /^[A-Za-z0-9][A-Za-z0-9_.:/@-]{0,255}$/,
  text: /^[^-].*$|^$/s,
  mode: /^(overlay|clone|none)$/,
  engine: oneOf(engineNames),
  agent: /^[a-z][a-z0-9-]{0,31}$/,
};

/** Null: it is such a thing. Else what is wrong. */
export function misfitOf(kind: Kind, text: string, { cwd }: Surroundings): string | null {
  if (kind === 'project' && isInsidePath(text, cwd) && existsSync(resolve(cwd, text, 'carrel.yaml'))) {
    return 'has a carrel.yaml, which may give the sandbox more';
  }
  if (kind === 'project') return misfitOf('path', text, { cwd, programs: [] });
  if (kind !== 'path' && kind !== 'paths') return patterns[kind].test(text) ? null : `is no ${kind}`;
  const values = kind === 'paths' ? text.split(',') : [text];
  return values.every((one) => isInsidePath(one, cwd)) ? null : 'does not stay inside the working folder';
}

/** A path that no program takes for anything else: not for a URL, `host:path`, or the name of a package or repository. */
export function isPlainPath(text: string, { cwd }: Surroundings): boolean {
  return /^\.{0,1}\/|^\.$/.test(text) && !text.includes(':') && isInsidePath(text, cwd);
}
