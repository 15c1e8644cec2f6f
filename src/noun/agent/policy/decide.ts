/** Decides on a command: first by the rules of the owner, then by the default rules. */

import { canonicalWords } from '../../../model/command-word.ts';
import { adapterPath } from '../model/agent.ts';
import { defaultRules } from './defaults.ts';
import { splitWords } from './lexer.ts';
import type { OwnerRule } from './owner.ts';
import { ask, type CommandContext, type PolicyVerdict } from './policy.ts';
import { isPlainPath, type Rule, whyInvalid } from './rule.ts';

/** Decides on a shell string. */
export function decideText(text: string, owner: readonly OwnerRule[], context: CommandContext): PolicyVerdict {
  const words = splitWords(text);
  if ('unclear' in words) return ask('shell', `the shell command cannot be parsed: ${words.unclear}`);
  return decide(words.argv, owner, context);
}

export function decide(argv: readonly string[], owner: readonly OwnerRule[], context: CommandContext): PolicyVerdict {
  if (argv.length === 0) return ask('empty', 'there is no command');
  const plain = plainArgv(argv, context);
  return byOwner(plain, owner, context) ?? byDefault(plain, context);
}

/** Aliases become the canonical spelling, so that a rule cannot be bypassed by an alias. */
function plainArgv([program = '', ...rest]: readonly string[], { programs, groups }: CommandContext): string[] {
  if (program !== 'carrel' && !programs.includes(program)) return [program, ...rest];
  return ['carrel', ...canonicalWords(rest[0] === '--json' ? rest.slice(1) : rest, groups)];
}

const order = ['deny', 'ask', 'allow'] as const;

function byOwner(argv: readonly string[], rules: readonly OwnerRule[], context: CommandContext): PolicyVerdict | null {
  const matching = rules.filter((rule) => ownerMatches(rule, argv, context));
  for (const decision of order) {
    const found = matching.find((rule) => rule.decision === decision);
    if (found)
      return { decision, rule: `owner: ${found.command.join(' ')}`, reason: found.reason ?? ownerReason[decision] };
  }
  return null;
}

const ownerReason = {
  deny: 'policy.yaml of this installation denies it',
  ask: 'policy.yaml of this installation requires a confirmation',
  allow: 'policy.yaml of this installation allows it',
} as const;

/** `deny` and `ask` match the first words of a command; `allow` has to cover all words. */
function ownerMatches(rule: OwnerRule, argv: readonly string[], context: CommandContext): boolean {
  const command = plainArgv(rule.command, context);
  if (!command.every((word, index) => argv[index] === word)) return false;
  if (rule.decision !== 'allow') return true;
  const rest = argv.slice(command.length);
  const flags = new Set(rule.flags ?? []);
  const args = rest.filter((word) => !flags.has(word));
  if (args.some((word) => word.startsWith('-'))) return false;
  if (rule.args === 'any') return true;
  if (rule.args === 'paths') return args.every((word) => isPlainPath(word, context));
  return args.length === 0;
}

function byDefault(argv: readonly string[], context: CommandContext): PolicyVerdict {
  const [program, ...words] = argv as [string, ...string[]];
  if (program !== 'carrel') return ask('unknown-command', `no rule names ${JSON.stringify(program.slice(0, 80))}`);
  const rule = defaultRules.find((one) => one.words.every((word, index) => words[index] === word));
  if (!rule) return ask('carrel', 'no rule allows this command of carrel');
  const name = `carrel ${rule.words.join(' ')}`;
  const flaw = flawOf(rule, words.slice(rule.words.length), context);
  return flaw === null ? { decision: 'allow', rule: name, reason: 'a default rule allows it' } : ask(name, flaw);
}

/** Null: the rule covers all words. */
function flawOf(rule: Rule, words: readonly string[], context: CommandContext): string | null {
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
    const problem = flag.value === null ? null : whyInvalid(flag.kind!, flag.value, context);
    if (problem !== null) return `the value of ${flag.name} ${problem}`;
    at += flag.taken;
  }
  const { requiredFlag } = rule;
  if (requiredFlag !== undefined && !head.includes(requiredFlag)) return `it is allowed with ${requiredFlag} only`;
  return argumentsFlaw(rule, args, context) ?? projectFlaw(rule, head, context) ?? commandFlaw(rule, tail);
}

function projectFlaw({ projectFlag }: Rule, head: readonly string[], context: CommandContext): string | null {
  const names = (word: string) => word === projectFlag || word.startsWith(`${projectFlag}=`);
  if (projectFlag === undefined || head.some(names)) return null;
  const problem = whyInvalid('project', '.', context);
  return problem && `the working folder ${problem}`;
}

interface Flag {
  readonly name: string;
  readonly kind: NonNullable<Rule['flags']>[string];
  readonly value: string | null;
  /** How many of the next words belong to the flag. */
  readonly taken: number;
}

/** Parses the flag at a position. A string is the reason why the flag is not allowed. */
function flagAt(rule: Rule, words: readonly string[], at: number): Flag | string {
  const word = words[at]!;
  const equals = word.startsWith('--') ? word.indexOf('=') : -1;
  const name = equals === -1 ? word : word.slice(0, equals);
  const flags = rule.flags ?? {};
  if (!Object.hasOwn(flags, name)) return `${JSON.stringify(name.slice(0, 80))} is not allowed by this rule`;
  const kind = flags[name]!;
  if (kind === null) return equals === -1 ? { name, kind, value: null, taken: 0 } : `${name} takes no value`;
  if (equals !== -1) return { name, kind, value: word.slice(equals + 1), taken: 0 };
  const value = words[at + 1];
  return value === undefined ? `${name} has no value` : { name, kind, value, taken: 1 };
}

function argumentsFlaw(rule: Rule, args: readonly string[], context: CommandContext): string | null {
  const { args: required = [], optional = [], rest } = rule;
  if (args.length < required.length) return 'an argument is missing';
  const kinds = [...required, ...optional];
  for (const [index, word] of args.entries()) {
    const kind = kinds[index] ?? rest;
    if (kind === undefined) return 'there are more arguments than the rule allows';
    const problem = whyInvalid(kind, word, context);
    if (problem !== null) return `${JSON.stringify(word.slice(0, 80))} ${problem}`;
  }
  return null;
}

function commandFlaw(rule: Rule, tail: readonly string[] | null): string | null {
  if (tail === null) return rule.words[0] === 'exec' ? 'a command is missing' : null;
  if (rule.command !== 'adapter') return 'nothing may follow "--"';
  // The adapter may have no arguments: they could be settings that decide what it runs, which a rule cannot check.
  return tail.length === 1 && tail[0] === adapterPath
    ? null
    : 'inside a sandbox only the adapter may be run without a confirmation';
}
