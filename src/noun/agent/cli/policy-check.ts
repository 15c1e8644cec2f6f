import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Context, Invocation } from '../../../client/cli.ts';
import { firstBytes } from '../../../lib/process/collect.ts';
import { isInsidePath } from '../policy/inside.ts';
import { readOwnerRules } from '../policy/owner.ts';
import { ask, type PolicyVerdict } from '../policy/policy.ts';
import { type AgentToolCall, decideCall, hookAnswer, readToolCall } from '../policy/tool-call.ts';

type Options = { readonly hook?: boolean };

const maxInputBytes = 1024 ** 2;

/**
 * Uses no daemon, because a hook runs this before every command. The rules are a file that only the owner can write, so
 * no sandbox can change the policy.
 */
export async function policyCheck(context: Context, { options, command }: Invocation<Options>): Promise<void> {
  const call: AgentToolCall =
    command.length > 0 ? { cwd: null, commandOrVerdict: command } : readToolCall(await stdinText());
  const verdict = await verdictOn(call, context);
  context.out.document(options.hook ? hookAnswer(verdict) : verdict, 0);
}

async function verdictOn(call: AgentToolCall, { home, table }: Context): Promise<PolicyVerdict> {
  const cwd = call.cwd ?? process.cwd();
  try {
    const owner = await readOwnerRules(home, cwd);
    if ('unusable' in owner) return ask('policy.yaml', owner.unusable);
    return decideCall(call, owner.rules, {
      ...{ cwd, programs: ownPrograms(cwd) },
      groups: table.groups.map(({ name }) => name),
    });
  } catch (error) {
    return ask('policy', `it could not be decided: ${(error as Error).message}`);
  }
}

/**
 * The paths of this program: as called, and the real one. A path below the agent's folder is left out, as agents write
 * there.
 */
function ownPrograms(cwd: string): string[] {
  const paths = [process.argv[1] ?? ''].flatMap((program) => [resolve(program), realpathSync(program)]);
  return [...new Set(paths)].filter((path) => !isInsidePath(path, cwd) && realpathSync(cwd) !== '/');
}

async function stdinText(): Promise<string> {
  const bytes = await firstBytes(process.stdin, maxInputBytes + 1);
  return bytes.length > maxInputBytes ? '' : bytes.toString('utf8');
}
