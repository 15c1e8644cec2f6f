/** COPY and ADD: what they copy from the project, and which other sources they may have. */

import type { Fault } from '../../../model/fault.ts';
import type { Files, Instruction } from './dockerfile.ts';
import { jsonWords } from './words.ts';

export interface CopySources {
  /** The text for the engine. */
  readonly text: string;
  /** Null: it copies from another stage. */
  readonly files: Files | null;
}

type Refuse = (what: string, hint?: string) => Fault;

/** `stages` are the names and numbers of earlier stages. */
export function readSources(
  { name, line, text, heredocs }: Instruction,
  stages: readonly string[],
  refuse: Refuse,
): CopySources {
  if (heredocs.length > 0)
    throw refuse(`${name} of a heredoc is not understood`, 'Copy a file, or use RUN cat <<EOF > FILE');
  const [flags, rest] = splitFlags(text);
  const words = jsonWords(rest) ?? rest.split(/\s+/).filter((word) => word !== '');
  if (rest.startsWith('[') && jsonWords(rest) === null) throw refuse('this is not a JSON list of words');
  const from = flags.map((flag) => fromFlag(name, flag, stages, refuse)).find((stage) => stage !== null) ?? null;
  if (words.length < 2) throw refuse(`${name} takes what and where to`, `${name} WHAT… WHERE`);
  const sources = words.slice(0, -1);
  for (const word of words) checkWord(name, word, refuse);
  if (name === 'ADD') for (const source of sources) checkLocal(source, refuse);
  return {
    text: [name, ...flags, rest].join(' '),
    files: from === null ? { line, patterns: sources.map(patternOf) } : null,
  };
}

function splitFlags(text: string): [flags: string[], rest: string] {
  const flags: string[] = [];
  let rest = text;
  for (let flag = /^(--\S*)(\s+|$)/.exec(rest); flag !== null; flag = /^(--\S*)(\s+|$)/.exec(rest)) {
    flags.push(flag[1]!);
    rest = rest.slice(flag[0].length);
  }
  return [flags, rest];
}

/** The stage that a flag names; null for another flag. */
function fromFlag(name: string, flag: string, stages: readonly string[], refuse: Refuse): string | null {
  if (/^--chown=[\w:.-]+$/.test(flag)) return null;
  const [, from] = /^--from=([\w.-]+)$/.exec(flag) ?? [];
  if (from === undefined || name !== 'COPY') {
    const other = flag.startsWith('--from') ? 'copied from nothing but earlier stages' : 'not understood here';
    throw refuse(`${flag} is ${other}`, 'COPY takes --from=STAGE and --chown=USER, ADD the latter.');
  }
  if (stages.includes(from.toLowerCase())) return from;
  throw refuse(`${from} is not an earlier stage`, 'Nothing is copied from other images.');
}

/** Refuses quotes and escapes, because parsers of Dockerfiles remove them at different times. */
function checkWord(name: string, word: string, refuse: Refuse): void {
  if (/["'\\`]/.test(word))
    throw refuse(`${word}: quotes and escapes are not understood in ${name}`, 'Write the name as it is.');
}

/** Refuses URLs: the engine itself would download them, over the network of the host. */
function checkLocal(source: string, refuse: Refuse): void {
  if (source.includes('$')) throw refuse(`${source}: ADD takes no variables`, 'Use COPY.');
  if (/^[a-z][a-z0-9+.-]*:\/\/|^[\w.-]+@|^github\.com\/|\.git(#|$)/i.test(source)) {
    throw refuse(`${source} is not a file of the project`, 'Fetch it with RUN, in the network of the build.');
  }
}

/** A source with a variable may be any path, so it becomes the pattern of all files. */
function patternOf(source: string): string {
  return source.includes('$') ? '.' : source;
}
