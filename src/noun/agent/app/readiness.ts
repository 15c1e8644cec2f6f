/**
 * Finds the program and the key of an agent. What is missing is refused in one message, with the commands that provide
 * it.
 */

import { Fault, isFault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { presetOfKey } from '../../network/model/credential.ts';
import type { SandboxRequest } from '../../sandbox/api.ts';
import { type AgentNeeds, keyGrants } from '../agent.ts';
import type { AgentRequest } from '../api.ts';
import { installFolder, installVolume, keysOf } from '../model/agent.ts';
import { terminalAgents } from '../model/table.ts';
import { isProgram, mountOf } from './program-mount.ts';

export interface AgentProgram {
  /** The path of the program inside the sandbox. */
  readonly path: string;
  /** What the request for the sandbox has to contain for the program. */
  readonly request: Pick<SandboxRequest, 'program' | 'volumes'>;
}

export function terminalSpecOf(agent: string) {
  if (Object.hasOwn(terminalAgents, agent)) return terminalAgents[agent]!;
  throw new Fault('not_found', `there is no terminal program of an agent ${printable(agent)}`, {
    hint: `There are ${Object.keys(terminalAgents).join(', ')}.`,
  });
}

export interface ProgramNeeds extends AgentNeeds {
  /** The version that `carrel agent install` installed; null: none. */
  readonly installedVersion: (agent: string) => string | null;
}

/**
 * The program that `carrel agent install` installed, otherwise one that sandboxes have by themselves, otherwise the
 * program of the client. Null: there is none.
 */
export function programOf(agent: string, onPath: string | undefined, needs: ProgramNeeds): AgentProgram | null {
  const [name] = terminalSpecOf(agent).command as [string];
  const version = needs.installedVersion(agent);
  if (version !== null) return installedProgram(agent, version, name);
  if (needs.hasProgram(name)) return { path: name, request: {} };
  if (onPath === undefined || !isProgram(onPath)) return null;
  const { source, path } = mountOf(onPath);
  return { path, request: { program: source } };
}

/** The path contains the version, so an upgrade does not change sandboxes until they are created again. */
function installedProgram(agent: string, version: string, name: string): AgentProgram {
  const volumes = [{ volume: installVolume, target: installFolder, readonly: true }];
  return { path: `${installFolder}/${agent}/${version}/bin/${name}`, request: { volumes } };
}

type Grants = Partial<SandboxRequest>;

export interface ProgramAndGrants {
  readonly program: AgentProgram;
  readonly grants: Grants;
}

/** What the client's machine has for the agent: a program and a login. */
type Client = Pick<AgentRequest, 'agent' | 'program' | 'hasLogin'>;

/** The program and the grants, or a refusal that names everything that is missing. */
export function requireProgramAndKey(
  { agent, program: onPath, hasLogin = false }: Client,
  request: Grants,
  needs: ProgramNeeds,
): ProgramAndGrants {
  const program = programOf(agent, onPath, needs);
  const missing = program === null ? [{ what: 'its program', hint: installHint(agent) }] : [];
  let grants: Grants = {};
  try {
    // If the program is missing, no credential is recorded.
    const dry = program === null ? { ...needs, addCredential: (preset: string) => preset } : needs;
    grants = keyGrants(agent, terminalSpecOf(agent), request, dry);
  } catch (error) {
    if (!isFault(error, 'not_found')) throw error;
    missing.push({ what: 'its key', hint: keyHint(agent, hasLogin) });
  }
  if (program !== null && missing.length === 0) return { program, grants };
  const words = missing.map(({ what }) => what).join(' and ');
  throw new Fault('not_found', `${agent} cannot start yet without ${words}`, {
    hint: missing.map(({ hint }) => hint).join('\n'),
  });
}

/** The credential or secret that an agent gets. */
export function keyOf(agent: string, needs: AgentNeeds): string | null {
  const { key, anyKey = [] } = terminalSpecOf(agent);
  const secrets = key === undefined ? anyKey : keysOf(key).map(({ secret }) => secret);
  return secrets.map((secret) => keyFor(secret, needs)).find((one) => one !== null) ?? null;
}

function keyFor(secret: string, needs: AgentNeeds): string | null {
  const preset = presetOfKey(secret);
  const [credential] = preset === null ? [] : needs.credentialsFor(preset);
  if (credential !== undefined) return `credential ${credential}`;
  return needs.hasSecret(secret) ? `secret ${secret}` : null;
}

function installHint(agent: string): string {
  return hintLine('install its program:', `carrel agent install ${agent}`);
}

function keyHint(agent: string, hasLogin: boolean): string {
  const { key, anyKey = [] } = terminalSpecOf(agent);
  const set = (key === undefined ? anyKey : [key.secret]).map((secret) => `carrel secret set ${secret}`);
  const lines = set.map((command, at) => hintLine(at === 0 ? 'enter its key:' : 'or:', command));
  if (!hasLogin) return lines.join('\n');
  return [...lines, hintLine('or use your login:', `carrel agent login ${agent}`)].join('\n');
}

function hintLine(what: string, command: string): string {
  return `${what.padEnd('install its program: '.length)} ${command}`;
}
