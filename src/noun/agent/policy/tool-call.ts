/**
 * Parses the input of permission hooks of agent programs, and formats the answer. The shell tools are known by name; a call of
 * another tool, or one with an unknown field, gives `ask`.
 */
import { list, object, oneOf, open, type Shape, ShapeError, text, whole } from '../../../model/shape.ts';
import { decide, decideText } from './decide.ts';
import type { OwnerRule } from './owner.ts';
import { ask, type CommandContext, type PolicyVerdict } from './policy.ts';

const boolean: Shape<boolean> = (value, path) => {
  if (typeof value === 'boolean') return value;
  throw new ShapeError(path, 'must be true or false');
};

const command: Shape<string | readonly string[]> = (value, path) =>
  Array.isArray(value) ? list(text(), 4096)(value, path) : text()(value, path);

const shellTools = oneOf('Bash', 'bash', 'shell', 'run_shell_command');

const call = open(
  { tool_name: text({ max: 200 }), tool_input: (value) => value },
  { cwd: text({ max: 4096, pattern: /^\//, says: 'an absolute path' }), hook_event_name: text({ max: 100 }) },
);

/** Strict: an unknown field could change which command is run, or where. */
const input = object({ command }, { description: text(), timeout: whole(0, 86_400_000), run_in_background: boolean });

export interface AgentToolCall {
  /** The folder in which the command would run; null: the call does not say. */
  readonly cwd: string | null;
  /** A shell string, argv, or the verdict if the call has neither. */
  readonly commandOrVerdict: string | readonly string[] | PolicyVerdict;
}

export function readToolCall(json: string): AgentToolCall {
  try {
    const { tool_name, tool_input, cwd = null } = call(JSON.parse(json), []);
    const known = orNull(() => shellTools(tool_name, ['tool_name']));
    if (known === null)
      return { cwd, commandOrVerdict: ask('tool', `${JSON.stringify(tool_name)} does not run commands`) };
    return { cwd, commandOrVerdict: input(tool_input, ['tool_input']).command };
  } catch (error) {
    const reason = error instanceof ShapeError ? error.message : 'not JSON';
    return { cwd: null, commandOrVerdict: ask('tool-call', `the call cannot be parsed: ${reason}`) };
  }
}

function orNull<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null;
  }
}

export function decideCall(
  { commandOrVerdict }: AgentToolCall,
  owner: readonly OwnerRule[],
  context: CommandContext,
): PolicyVerdict {
  if (typeof commandOrVerdict === 'string') return decideText(commandOrVerdict, owner, context);
  return 'decision' in commandOrVerdict ? commandOrVerdict : decide(commandOrVerdict, owner, context);
}

/** The answer of a PreToolUse hook of Claude Code; other agent programs accept it as well. */
export function hookAnswer({ decision, rule, reason }: PolicyVerdict) {
  return {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: decision,
      permissionDecisionReason: `carrel policy (${rule}): ${reason}`,
    },
  };
}
