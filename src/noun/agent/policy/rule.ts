/** Rules as data: the first words of a command, and what may follow them. A rule allows nothing else. */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { engineNames } from '../../../model/engine.ts';
import { sandboxNamePattern } from '../../../model/name.ts';
import { branchNamePattern, containerIdPattern, storyIdPattern, storyStatuses } from '../../swarm/model/message.ts';
import { containerNamePattern, containerStatuses } from '../../swarm/model/swarm.ts';
import { isInsidePath } from './inside.ts';
import type { CommandContext } from './policy.ts';

/** The type of an argument or of a flag's value. */
export type ArgumentKind =
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
  /** The first words after the program. */
  readonly words: readonly string[];
  /** Required arguments in order, then optional ones, then `rest` any number of times. */
  readonly args?: readonly ArgumentKind[];
  readonly optional?: readonly ArgumentKind[];
  readonly rest?: ArgumentKind;
  /** Flags by name; null: the flag takes no value. */
  readonly flags?: Readonly<Record<string, ArgumentKind | null>>;
  /** A flag without which the rule does not allow the command. */
  readonly requiredFlag?: string;
  /** The flag that names the project; without it the project is the working folder. */
  readonly projectFlag?: string;
  /** The command that may follow `--`. */
  readonly command?: 'adapter';
}

function oneOf(words: readonly string[]): RegExp {
  return new RegExp(`^(${words.join('|')})$`);
}

const patterns: { readonly [kind in Exclude<ArgumentKind, 'path' | 'paths' | 'project'>]: RegExp } = {
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

/** Null: the text is of that kind. Otherwise the reason why not. */
export function whyInvalid(kind: ArgumentKind, text: string, { cwd }: Pick<CommandContext, 'cwd'>): string | null {
  if (kind === 'project' && isInsidePath(text, cwd) && existsSync(resolve(cwd, text, 'carrel.yaml'))) {
    return 'has a carrel.yaml, which may grant the sandbox more';
  }
  if (kind === 'project') return whyInvalid('path', text, { cwd });
  if (kind !== 'path' && kind !== 'paths') return patterns[kind].test(text) ? null : `is not a valid ${kind}`;
  const values = kind === 'paths' ? text.split(',') : [text];
  return values.every((one) => isInsidePath(one, cwd)) ? null : 'is outside of the working folder';
}

/** A path that no program reads as a URL, as `host:path`, or as the name of a package or repository. */
export function isPlainPath(text: string, { cwd }: CommandContext): boolean {
  return /^\.{0,1}\/|^\.$/.test(text) && !text.includes(':') && isInsidePath(text, cwd);
}
