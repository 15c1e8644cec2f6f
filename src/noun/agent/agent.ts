/**
 * Checks what an agent needs before its sandbox starts: its program, its key, and a route to its service. A missing one
 * is refused here, with the command that provides it; inside the sandbox the agent would notice only after minutes.
 */

import { Fault } from '../../model/fault.ts';
import { type Endpoint, endpointText, parseEndpoint } from '../../model/host.ts';
import { printable } from '../../model/name.ts';
import { type PresetName, presetOfKey, presetRoute } from '../network/model/credential.ts';
import { NetworkPolicy, ruleClass } from '../network/model/network.ts';
import { type AgentKey, type AgentSpec, keysOf } from './model/agent.ts';
import { agentPackages, agents } from './model/table.ts';

export interface AgentNeeds {
  readonly hasSecret: (name: string) => boolean;
  /** The names of credentials for the service of a preset. */
  readonly credentialsFor: (preset: PresetName) => readonly string[];
  /** Makes a credential for that service from a secret, and returns its name. */
  readonly addCredential: (preset: PresetName, secret: string) => string;
  /** Whether a sandbox with the programs of this machine finds this program. */
  readonly hasProgram: (name: string) => boolean;
}

interface Kept {
  readonly secrets: { list(): readonly { readonly name: string }[] };
  readonly credentials: {
    list(): readonly { readonly name: string; readonly preset: string | null }[];
    addFor(preset: PresetName, secret: string): { readonly name: string };
  };
  readonly hasProgram: AgentNeeds['hasProgram'];
}

/** What agents need, from the secrets and credentials of a user. */
export function agentNeeds({ secrets, credentials, hasProgram }: Kept): AgentNeeds {
  return {
    hasSecret: (name) => secrets.list().some((secret) => secret.name === name),
    credentialsFor: (preset) =>
      credentials
        .list()
        .filter((one) => one.preset === preset)
        .map(({ name }) => name),
    addCredential: (preset, secret) => credentials.addFor(preset, secret).name,
    hasProgram,
  };
}

/** The part of a request for a sandbox that concerns its agent. */
export interface AgentSurroundings {
  readonly image?: unknown;
  readonly rootfs?: unknown;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly secrets?: readonly string[] | undefined;
  readonly credentials?: readonly string[] | undefined;
}

/** What a request gets for the agent's key, in the place of its own secrets or credentials. */
export interface KeyGrants {
  readonly secrets?: string[];
  readonly credentials?: string[];
}

/** The part of an agent that names its key. */
type Keyed = Pick<AgentSpec, 'key' | 'anyKey'>;
type CredentialNeeds = Pick<AgentNeeds, 'credentialsFor'>;

/**
 * Skips images, root filesystems and requests with a PATH of their own: only a process inside can look for programs
 * there.
 */
export function requireProgram(
  name: string,
  { command }: AgentSpec,
  request: AgentSurroundings,
  needs: AgentNeeds,
): void {
  const [program] = command as [string];
  if (request.image !== undefined || request.rootfs !== undefined || request.env?.PATH !== undefined) return;
  if (needs.hasProgram(program)) return;
  throw new Fault('not_found', `the agent ${name} is not installed: sandboxes find no program ${printable(program)}`, {
    hint: installHint(program),
  });
}

function installHint(program: string): string {
  const known = Object.hasOwn(agentPackages, program) ? agentPackages[program] : undefined;
  if (known === undefined) return 'Install it below /usr, or name another command under `agents` in config.yaml.';
  const asRoot = process.getuid!() === 0 ? '' : 'sudo ';
  return `Sandboxes have the programs below /usr: ${asRoot}npm install -g --prefix /usr/local ${known}`;
}

/**
 * The grants that the request gets for the agent's key: a credential if possible, because its value never enters the
 * sandbox; otherwise the secret itself.
 */
export function keyGrants(name: string, agent: Keyed, request: AgentSurroundings, needs: AgentNeeds): KeyGrants {
  if (agent.key !== undefined) return oneKey(name, agent.key, request, needs);
  return agent.anyKey === undefined ? {} : anyKey(name, agent.anyKey, request, needs);
}

/** The key takes precedence over the login of an account, unless the request has the login already. */
function oneKey(name: string, key: AgentKey, request: AgentSurroundings, needs: AgentNeeds): KeyGrants {
  const keys = keysOf(key);
  if (keys.some((one) => hasKey(one, request, needs))) return {};
  for (const { secret } of keys) {
    const preset = presetOfKey(secret);
    const granted = preset === null ? null : credentialGrant(preset, secret, request, needs);
    if (granted !== null) return granted;
    if (preset === null && needs.hasSecret(secret)) return { secrets: [...(request.secrets ?? []), secret] };
  }
  throw missingKey(name, [key.secret], key.login);
}

/** Whether the request has the key already, as a secret, as a variable, or by a credential. */
function hasKey(key: AgentKey, request: AgentSurroundings, needs: CredentialNeeds): boolean {
  return isAvailable(key, { ...request, hasCredential: (preset) => hasCredential(preset, request, needs) });
}

interface KeySources extends Pick<AgentSurroundings, 'secrets' | 'env'> {
  readonly hasCredential: (preset: PresetName) => boolean;
}

function isAvailable(
  { variable, secret, elsewhere = '' }: AgentKey,
  { secrets = [], env = {}, hasCredential }: KeySources,
) {
  const preset = presetOfKey(secret);
  return secrets.includes(secret) || !!env[variable] || !!env[elsewhere] || (preset !== null && hasCredential(preset));
}

/** The agent as a program inside gets it: with the one key that the sandbox has, or that it lacks. */
export function withKeyIn<S extends AgentSpec>(agent: S, sources: KeySources): S {
  if (agent.key === undefined) return agent;
  const keys = keysOf(agent.key);
  const { variable, secret, elsewhere } = keys.find((one) => isAvailable(one, sources)) ?? keys[0]!;
  return { ...agent, key: { variable, secret, ...(elsewhere === undefined ? {} : { elsewhere }) } };
}

/** The same for a request. */
export function withKeyOf(agent: AgentSpec, request: AgentSurroundings, needs: CredentialNeeds): AgentSpec {
  return withKeyIn(agent, { ...request, hasCredential: (preset) => hasCredential(preset, request, needs) });
}

/** A request that has secrets, credentials or variables of its own is not refused for a missing key. */
function anyKey(name: string, keys: readonly string[], request: AgentSurroundings, needs: AgentNeeds): KeyGrants {
  let granted: KeyGrants = {};
  for (const secret of keys) {
    const preset = presetOfKey(secret);
    const grant = preset === null ? null : credentialGrant(preset, secret, { ...request, ...granted }, needs);
    granted = { ...granted, ...grant };
  }
  const { secrets = [], credentials = [], env = {} } = { ...request, ...granted };
  if (secrets.length + credentials.length + Object.keys(env).length > 0) return granted;
  throw missingKey(name, keys);
}

/** Null: there is no credential for the service, and no secret to make one from. */
function credentialGrant(
  preset: PresetName,
  secret: string,
  request: AgentSurroundings,
  needs: AgentNeeds,
): KeyGrants | null {
  const { credentials = [] } = request;
  const known = needs.credentialsFor(preset);
  if (known.some((one) => credentials.includes(one))) return {};
  if (known.length === 0 && !needs.hasSecret(secret)) return null;
  return { credentials: [...credentials, known[0] ?? needs.addCredential(preset, secret)] };
}

/** The name that `carrel agent login` takes for this token. */
function agentWithLogin(token: string | undefined): string | undefined {
  return Object.keys(agents).find((name) => agents[name]!.login?.kinds.some(({ secret }) => secret === token));
}

function missingKey(name: string, secrets: readonly string[], login?: string): Fault {
  const [first] = secrets;
  const loggedIn = agentWithLogin(login);
  const orLogin = loggedIn ? `, or with an account of ${loggedIn}: carrel agent login ${loggedIn}` : '';
  const others = secrets.length > 1 ? ` (or ${secrets.slice(1).join(', ')})` : '';
  return new Fault('not_found', `the agent ${name} needs a key, and there is no secret ${secrets.join(' or ')}`, {
    hint: `Keep it with: carrel secret set ${first}${others} < FILE${orLogin}`,
  });
}

/** A credential opens a route through the proxy by itself; without one, a network rule must allow the service. */
export function requireRoute(
  name: string,
  { key }: Keyed,
  request: AgentSurroundings,
  allow: readonly string[],
  needs: CredentialNeeds,
): void {
  if (key === undefined) return;
  const { secret } = keysOf(key).find((one) => hasKey(one, request, needs)) ?? key;
  const preset = presetOfKey(secret);
  if (preset === null || hasCredential(preset, request, needs)) return;
  const place = serviceOf(preset, request.env ?? {});
  if (place === null) return;
  const decision = new NetworkPolicy(allow).decide(place);
  if (decision.allowed) return;
  const outside = request.secrets?.includes(secret)
    ? `Leave out --secret ${secret}: the key is then added outside. Or`
    : 'Allow it:';
  throw new Fault('denied', `the agent ${name} cannot reach its service: ${decision.reason}`, {
    hint: `${outside} add --network ${endpointText(place)}`,
  });
}

function hasCredential(preset: PresetName, { credentials = [] }: AgentSurroundings, needs: CredentialNeeds) {
  return needs.credentialsFor(preset).some((one) => credentials.includes(one));
}

/** Null: the service listens inside the sandbox, so the agent needs no route out. */
function serviceOf(preset: PresetName, env: Readonly<Record<string, string>>): Endpoint | null {
  const { host, port, base } = presetRoute(preset);
  const named = env[base];
  if (named === undefined || !URL.canParse(named)) return parseEndpoint(`${host}:${port}`, port);
  const { protocol, host: place, hostname } = new URL(named);
  const endpoint = parseEndpoint(place, protocol === 'http:' ? 80 : 443);
  return hostname === 'localhost' || ruleClass(endpointText(endpoint)) === 'loopback' ? null : endpoint;
}
