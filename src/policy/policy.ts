/**
 * May a command run without anybody being asked? An agent's program asks before it runs one on the host.
 *
 *   allow   it is one command, completely understood, and a rule names it
 *   ask     everything else
 *   deny    a rule of the owner says so
 *
 * Decided on argv. A shell string becomes argv only when every character of it is understood (`lexer.ts`): an operator, a
 * substitution, a redirection, an assignment, a pattern or whatever else a shell might do something with makes it `ask`. So do a
 * flag that the rule does not list, and a path that does not stay inside the working folder.
 *
 * Rules of the owner are in `policy.yaml` of the home, a place that agents cannot write. They come before ours: `deny` before
 * `ask` before `allow`. A file that somebody else could have written, or that is not understood, makes everything `ask`.
 *
 * A decision is about the words. What `carrel` does then, it checks again by itself.
 */
export type Decision = 'allow' | 'ask' | 'deny';

export interface Verdict {
  readonly decision: Decision;
  /** The name of the rule, or of what kept any from being asked. */
  readonly rule: string;
  readonly reason: string;
}

export interface Surroundings {
  /** Where the command would run; absolute. */
  readonly cwd: string;
  /** Programs that are ours, besides `carrel`: by absolute path. */
  readonly programs: readonly string[];
}

export function ask(rule: string, reason: string): Verdict {
  return { decision: 'ask', rule, reason };
}
