/**
 * Decides whether an agent may run a command on the host without a confirmation by the user. The permission hooks of agent
 * programs call it before each command.
 *
 *   allow   one command, completely parsed, that a rule allows
 *   ask     everything else: the user has to confirm
 *   deny    a rule of the owner denies it
 *
 * The decision is made on argv. A shell string becomes argv only if the lexer knows every character of it (`lexer.ts`): an
 * operator, a substitution, a redirection, an assignment, a pattern or any other shell syntax gives `ask`. So do a flag that the
 * rule does not list, and a path outside of the working folder.
 *
 * Rules of the owner are in `policy.yaml` of the home, which agents cannot write. They take precedence over the default rules:
 * `deny` before `ask` before `allow`. If the file is writable by another account or cannot be parsed, every decision is `ask`.
 *
 * Only the words of the command are checked. `carrel` makes its own checks when it runs.
 */
export type PolicyDecision = 'allow' | 'ask' | 'deny';

export interface PolicyVerdict {
  readonly decision: PolicyDecision;
  /** The name of the rule, or of the check that failed before any rule was tried. */
  readonly rule: string;
  readonly reason: string;
}

export interface CommandContext {
  /** The absolute path of the folder in which the command would run. */
  readonly cwd: string;
  /** Absolute paths of programs that are `carrel`. */
  readonly programs: readonly string[];
  /** The first words of those commands of `carrel` that have two words. */
  readonly groups: readonly string[];
}

export function ask(rule: string, reason: string): PolicyVerdict {
  return { decision: 'ask', rule, reason };
}
