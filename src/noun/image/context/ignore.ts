/**
 * `.dockerignore`: which files of a project no build sees. A line that is not understood is refused, as it could hide
 * files.
 */
import { posix } from 'node:path';
import { type BytePath, toText } from '../../../model/byte-path.ts';
import { refusal } from '../dockerfile/parse.ts';
import { matches, matchesName, type NamePattern, namePattern } from './pattern.ts';

interface Rule {
  /** `**` matches any number of folders. */
  readonly names: readonly (NamePattern | '**')[];
  /** True: the rule includes again what an earlier rule left out. */
  readonly keeps: boolean;
}

const maxRules = 1000;

export class Ignore {
  readonly #rules: readonly Rule[];
  /** Something below a folder that is left out may be kept. */
  readonly mayKeep: boolean;

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
    this.mayKeep = rules.some(({ keeps }) => keeps);
  }

  /** The last rule that matches the path, or a folder above it, decides. */
  leavesOut(path: BytePath): boolean {
    const names = toText(path).split('/');
    let out = false;
    for (const rule of this.#rules) if (rule.keeps === out && isAbout(rule, names)) out = !rule.keeps;
    return out;
  }
}

function isAbout({ names: pattern }: Rule, names: readonly string[]): boolean {
  const isOne = (piece: NamePattern | '**', name: string) => piece !== '**' && matchesName(piece, name);
  return names.some((_name, index) => matches(pattern, names.slice(0, index + 1), isOne, (piece) => piece === '**'));
}

export function parseIgnore(file: string, text: string): Ignore {
  const rules = text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .flatMap((line, index) => ruleIn(file, line, index + 1) ?? []);
  if (rules.length > maxRules) throw refusal(file, 1, `it has more than ${maxRules} lines`);
  return new Ignore(rules);
}

function ruleIn(file: string, text: string, line: number): Rule | null {
  const trimmed = text.trim();
  if (text.startsWith('#') || trimmed === '') return null;
  const keeps = trimmed.startsWith('!');
  const path = posix.normalize(`/${trimmed.slice(keeps ? 1 : 0).trim()}`).replace(/^\/|\/$/g, '');
  const parts = path === '' ? [] : path.split('/');
  if (parts.length === 0) return null;
  const names = parts.map((part) => (part === '**' ? '**' : part.includes('**') ? null : namePattern(part)));
  if (names.every((name) => name !== null)) return { names, keeps };
  throw refusal(file, line, `${trimmed} is not understood`, 'Use *, ?, [a-z], and ** as the whole name of a folder.');
}
