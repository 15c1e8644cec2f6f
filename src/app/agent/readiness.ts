/** Where the program and the key of an agent come from, and what is missing, in one message with the commands that provide it. */
import type { SandboxRequest } from '../../api/sandbox.ts';
import { agents, terminalAgents } from '../../model/agent-table.ts';
import { Fault, isFault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import { type AgentNeeds, keyGrants } from '../agent-needs.ts';
import { isProgram, mountOf } from './program-mount.ts';

export interface Program {
  /** The program inside. */
  readonly path: string;
  /** What the sandbox needs for it. */
  readonly request: Pick<SandboxRequest, 'program'>;
}

export function terminalSpecOf(agent: string) {
  if (Object.hasOwn(terminalAgents, agent)) return terminalAgents[agent]!;
  throw new Fault('not_found', `there is no terminal program of an agent ${printable(agent)}`, {
    hint: `There are ${Object.keys(terminalAgents).join(', ')}.`,
  });
}

/** Those that sandboxes have by themselves first, then that of the client. Null: there is none. */
export function programOf(agent: string, onPath: string | undefined, needs: AgentNeeds): Program | null {
  const [name] = terminalSpecOf(agent).command as [string];
  if (needs.hasProgram(name)) return { path: name, request: {} };
  if (onPath === undefined || !isProgram(onPath)) return null;
  const { source, path } = mountOf(onPath);
  return { path, request: { program: source } };
}

type Grants = Partial<SandboxRequest>;

export interface Ready {
  readonly program: Program;
  readonly grants: Grants;
}

/** The program and the grants, or a refusal that names everything that is missing. */
export function ready(agent: string, onPath: string | undefined, asked: Grants, needs: AgentNeeds): Ready {
  const program = programOf(agent, onPath, needs);
  const missing = program === null ? [installHint(agent)] : [];
  let grants: Grants = {};
  try {
    // Nothing is recorded while something is missing.
    const dry = program === null ? { ...needs, addCredential: (preset: string) => preset } : needs;
    grants = keyGrants(agent, { kind: 'command', ...terminalSpecOf(agent) }, asked, dry);
  } catch (error) {
    if (!isFault(error, 'not_found')) throw error;
    missing.push(keyHint(agent));
  }
  if (program !== null && missing.length === 0) return { program, grants };
  throw new Fault('not_found', `${agent} cannot start yet: ${missing.length} of what it needs is missing`, {
    hint: missing.join('\n'),
  });
}

function installHint(agent: string): string {
  return `its program: carrel agent install ${agent}   (npm package ${agents[agent]!.package})`;
}

function keyHint(agent: string): string {
  const { key, anyKey = [] } = terminalSpecOf(agent);
  const [first, ...others] = key === undefined ? anyKey : [key.secret];
  const or = others.length > 0 ? `   (or ${others.join(', ')})` : '';
  return `its key: carrel secret set ${first} < FILE${or}`;
}
