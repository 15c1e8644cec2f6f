/**
 * Paths as git takes them: a path stands for itself and everything below it, `*`, `?` and `[…]` match any characters, and words
 * before a path change its meaning: `:!docs` and `:(exclude)docs` leave paths out, `:/x` starts at the top, `:(glob)` keeps `*`
 * within one folder, `:(icase)` ignores case and `:(literal)` has no wildcards.
 */
import { type BytePath, isWithin } from './byte-path.ts';
import { Fault } from './fault.ts';
import { printable } from './name.ts';

const magicWords = ['top', 'exclude', 'glob', 'icase', 'literal'] as const;
type MagicWord = (typeof magicWords)[number];

export interface Pathspec {
  readonly words: readonly MagicWord[];
  readonly path: BytePath;
}

export function parsePathspec(text: string): Pathspec {
  if (!text.startsWith(':')) return { words: [], path: text };
  const long = /^:\(([^)]*)\)/.exec(text);
  if (long) return { words: long[1]!.split(',').filter(Boolean).map(magicWord), path: text.slice(long[0].length) };
  const [short] = /^:[/!^]*:?/.exec(text)!;
  const words: MagicWord[] = [];
  if (short.includes('/')) words.push('top');
  if (/[!^]/.test(short)) words.push('exclude');
  return { words, path: text.slice(short.length) };
}

function magicWord(word: string): MagicWord {
  const found = magicWords.find((one) => one === word);
  if (found) return found;
  throw new Fault('invalid', `${printable(word)} is not known in a path`, {
    hint: `Known are ${magicWords.join(', ')}; a name that begins with a colon is :(literal)NAME.`,
  });
}

/** The text of a spec, which `parsePathspec` parses to the same spec. */
export function pathspecText({ words, path }: Pathspec): string {
  if (words.length > 0) return `:(${words.join(',')})${path}`;
  return path.startsWith(':') ? `:(literal)${path}` : path;
}

export interface PathFilter {
  matches(path: BytePath): boolean;
  /** The specs that match none of these paths. */
  idle(paths: readonly BytePath[]): BytePath[];
}

/** Without a spec, or with exclusions alone, everything else matches. */
export function pathFilter(texts: readonly BytePath[]): PathFilter {
  const specs = texts.map(parsePathspec).map((spec) => ({ ...spec, test: testOf(spec) }));
  const wanted = specs.filter(({ words }) => !words.includes('exclude'));
  const left = specs.filter(({ words }) => words.includes('exclude'));
  const isLeft = (path: BytePath) => left.some(({ test }) => test(path));
  return {
    matches: (path) => (wanted.length === 0 || wanted.some(({ test }) => test(path))) && !isLeft(path),
    idle: (paths) => wanted.filter(({ test }) => !paths.some(test)).map(({ path }) => path),
  };
}

type Test = (path: BytePath) => boolean;

/** As in git, a name with wildcards in it also stands for itself. */
function testOf({ words, path }: Pathspec): Test {
  const folded = (text: string) => (words.includes('icase') ? text.toLowerCase() : text);
  const own = folded(path);
  if (words.includes('literal') || !/[*?[\\]/.test(own)) return (name) => isWithin(folded(name), own);
  const tokens = tokensOf(own, words.includes('glob'));
  return (name) => isWithin(folded(name), own) || runs(tokens, folded(name));
}

/** `skip`: the next two tokens are optional. */
type Token = { readonly kind: 'one' | 'many' | 'skip'; readonly test: (character: string) => boolean };

const any = () => true;
const notSlash = (character: string) => character !== '/';
const slash = (character: string) => character === '/';

function tokensOf(pattern: string, glob: boolean): Token[] {
  const tokens: Token[] = [];
  for (let rest = pattern; rest !== ''; ) {
    const [part] = /^(?:\*\*\/|\*+|\?|\\[\s\S]|\[[!^]?\]?(?:\[:[a-z]+:\]|\\[\s\S]|[^\]])*\]|[\s\S])/.exec(rest)!;
    const atStart = rest.length === pattern.length || pattern[pattern.length - rest.length - 1] === '/';
    tokens.push(...tokenOf(part, glob, atStart));
    rest = rest.slice(part.length);
  }
  return tokens;
}

function tokenOf(part: string, glob: boolean, atStart: boolean): Token[] {
  const one = glob ? notSlash : any;
  if (part === '**/' && glob && atStart)
    return [
      { kind: 'skip', test: any },
      { kind: 'many', test: any },
      { kind: 'one', test: slash },
    ];
  if (part === '**/') return [...tokenOf('**', glob, atStart), { kind: 'one', test: slash }];
  if (part.startsWith('*')) return [{ kind: 'many', test: part === '**' && atStart ? any : one }];
  if (part === '?') return [{ kind: 'one', test: one }];
  if (part.startsWith('[') && part.length > 1) return [{ kind: 'one', test: classTest(part, one) }];
  const literal = part.startsWith('\\') && part.length > 1 ? part.slice(1) : part;
  return [{ kind: 'one', test: (character) => character === literal }];
}

/** `[a-z]`, `[!a]`, `[[:digit:]]`. An invalid class matches nothing. */
function classTest(part: string, within: (character: string) => boolean): (character: string) => boolean {
  const negated = /^\[[!^]/.test(part);
  const body = part.slice(negated ? 2 : 1, -1);
  const source = body.replace(/\[:([a-z]+):\]|\\[\s\S]|[\]^[]/g, (found, name?: string) =>
    name === undefined ? (found.length > 1 ? found : `\\${found}`) : (named[name] ?? ''),
  );
  try {
    const expression = new RegExp(`^[${source}]$`);
    return (character) => within(character) && expression.test(character) !== negated;
  } catch {
    return () => false;
  }
}

const named: Readonly<Record<string, string>> = {
  alpha: 'a-zA-Z',
  digit: '0-9',
  alnum: 'a-zA-Z0-9',
  upper: 'A-Z',
  lower: 'a-z',
  space: '\\s',
  xdigit: '0-9a-fA-F',
  punct: '!-\\/:-@\\[-`{-~',
};

/**
 * Tracks all positions of the pattern at once, so that the time is at most the length of the pattern times that of the
 * path.
 */
function runs(tokens: readonly Token[], text: string): boolean {
  let states = reached(tokens, new Set([0]));
  for (const character of text) {
    const next = new Set<number>();
    for (const state of states) {
      const token = tokens[state];
      if (token && token.kind !== 'skip' && token.test(character)) next.add(token.kind === 'many' ? state : state + 1);
    }
    if (next.size === 0) return false;
    states = reached(tokens, next);
  }
  return states.has(tokens.length);
}

function reached(tokens: readonly Token[], states: Set<number>): Set<number> {
  for (const state of states) {
    const kind = tokens[state]?.kind;
    if (kind === 'many' || kind === 'skip') states.add(state + 1);
    if (kind === 'skip') states.add(state + 3);
  }
  return states;
}
