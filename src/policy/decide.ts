/** From argv to a verdict. */
import { adapterPath } from '../model/agent.ts';
import { canonicalWords } from '../model/command-word.ts';
import { defaultRules } from './defaults.ts';
import { splitWords } from './lexer.ts';
import type { OwnerRule } from './owner.ts';
import { ask, type Surroundings, type Verdict } from './policy.ts';
import { isPlainPath, misfitOf, type Rule } from './rule.ts';

/** A shell string. */
export function decideText(text: string, owner: readonly OwnerRule[], around: Surroundings): Verdict {
  const words = splitWords(text);
  if ('unclear' in words) return ask('shell', `not completely understood: ${words.unclear}`);
  return decide(words.argv, owner, around);
}

export function decide(argv: readonly string[], owner: readonly OwnerRule[], around: Surroundings): Verdict {
  if (argv.length === 0) return ask('empty', 'there is no command');
  const plain = plainArgv(argv, around);
  return byOwner(plain, owner, around) ?? byDefault(plain, around);
}

/** One spelling for a command of Carrel, so that a rule about it is not passed by another one. */
function plainArgv([program = '', ...rest]: readonly string[], { programs }: Surroundings): string[] {
  if (program !== 'carrel' && !programs.includes(program)) return [program, ...rest];
  return ['carrel', ...canonicalWords(rest[0] === '--json' ? rest.slice(1) : rest)];
}

const order = ['deny', 'ask', 'allow'] as const;

function byOwner(argv: readonly string[], rules: readonly OwnerRule[], around: Surroundings): Verdict | null {
  const matching = rules.filter((rule) => ownerMatches(rule, argv, around));
  for (const decision of order) {
    const found = matching.find((rule) => rule.decision === decision);
    if (found) return { decision, rule: `owner: ${found.command.join(' ')}`, reason: found.reason ?? saying[decision] };
  }
  return null;
}

const saying = {
  deny: 'the owner of this installation does not want it',
  ask: 'the owner of this installation wants to be asked',
  allow: 'the owner of this installation allows it',
} as const;

/** To be refused or asked about, a command has to begin so; to be allowed, all of it has to be named. */
function ownerMatches(rule: OwnerRule, argv: readonly string[], around: Surroundings): boolean {
  const command = plainArgv(rule.command, around);
  if (!command.every((word, index) => argv[index] === word)) return false;
  if (rule.decision !== 'allow') return true;
  const rest = argv.slice(command.length);
  const flags = new Set(rule.flags ?? []);
  const args = rest.filter((word) => !flags.has(word));
  if (args.some((word) => word.startsWith('-'))) return false;
  if (rule.args === 'any') return true;
  if (rule.args === 'paths') return args.every((word) => isPlainPath(word, around));
  return args.length === 0;
}

function byDefault(argv: readonly string[], around: Surroundings): Verdict {
  const [program, ...words] = argv as [string, ...string[]];
  if (program !== 'carrel') return ask('unknown-command', `no rule names ${JSON.stringify(program.slice(0, 80))}`);
  const rule = defaultRules.find((one) => one.words.every((word, index) => words[index] === word));
  if (!rule) return ask('carrel', 'this command of carrel is asked about');
  const name = `carrel ${rule.words.join(' ')}`;
  const flaw = flawOf(rule, words.slice(rule.words.length), around);
  return flaw === null
    ? { decision: 'allow', rule: name, reason: 'a command that needs no question' }
    : ask(name, flaw);
}

/** Null: the rule covers all of it. */
function flawOf(rule: Rule, words: readonly string[], around: Surroundings): string | null {
  const end = words.indexOf('--');
  const [head, tail] = end === -1 ? [words, null] : [words.slice(0, end), words.slice(end + 1)];
  const args: string[] = [];
  for (let at = 0; at < head.length; at++) {
    const word = head[at]!;
    if (word === '--json') continue;
    if (!word.startsWith('-')) {
      args.push(word);
      continue;
    }
    const flag = flagAt(rule, head, at);
    if (typeof flag === 'string') return flag;
    const misfit = flag.value === null ? null : misfitOf(flag.kind!, flag.value, around);
    if (misfit !== null) return `the value of ${flag.name} ${misfit}`;
    at += flag.taken;
  }
  if (rule.needs !== undefined && !head.includes(rule.needs)) return `without ${rule.needs} it is asked about`;
  return argumentsFlaw(rule, args, around) ?? hereFlaw(rule, head, around) ?? commandFlaw(rule, tail);
}

function hereFlaw({ orHere }: Rule, head: readonly string[], around: Surroundings): string | null {
  if (orHere === undefined || head.some((word) => word === orHere || word.startsWith(`${orHere}=`))) return null;
  const misfit = misfitOf('project', '.', around);
  return misfit && `the working folder ${misfit}`;
}

interface Flag {
  readonly name: string;
  readonly kind: NonNullable<Rule['flags']>[string];
  readonly value: string | null;
  /** Words after it that belong to it. */
  readonly taken: number;
}

/** A text: what is wrong with it. */
function flagAt(rule: Rule, words: readonly string[], at: number): Flag | string {
  const word = words[at]!;
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  const name = equals === -1 ? word : word.slice(0, equals);
  const flags = rule.flags ?? {};
  if (!Object.hasOwn(flags, name)) return `${JSON.stringify(name.slice(0, 80))} is asked about`;
  const kind = flags[name]!;
  if (kind === null) return equals === -1 ? { name, kind, value: null, taken: 0 } : `${name} takes no value`;
  if (equals !== -1) return { name, kind, value: word.slice(equals + 1), taken: 0 };
  const value = words[at + 1];
  return value === undefined ? `${name} has no value` : { name, kind, value, taken: 1 };
}

function argumentsFlaw(rule: Rule, args: readonly string[], around: Surroundings): string | null {
  const { args: needed = [], more = [], rest } = rule;
  if (args.length < needed.length) return 'an argument is missing';
  const kinds = [...needed, ...more];
  for (const [index, word] of args.entries()) {
    const kind = kinds[index] ?? rest;
    if (kind === undefined) return 'there are more arguments than are known';
    const misfit = misfitOf(kind, word, around);
    if (misfit !== null) return `${JSON.stringify(word.slice(0, 80))} ${misfit}`;
  }
  return null;
}

function commandFlaw(rule: Rule, tail: readonly string[] | null): string | null {
  if (tail === null) return rule.words[0] === 'exec' ? 'a command is missing' : null;
  if (rule.command !== 'adapter') return 'nothing may follow after "--"';
  // Without settings: whoever starts an adapter says what it runs, and that is no question of words.
  return tail.length === 1 && tail[0] === adapterPath
    ? null
    : 'inside a sandbox only the adapter is run without a question';
}
