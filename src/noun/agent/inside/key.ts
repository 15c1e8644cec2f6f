/**
 * The agent's key: a secret, which is a file in memory, or a variable that the sandbox has already, such as the placeholder
 * that stands for a credential. A task request cannot bring one.
 */
import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskRequest } from '../../swarm/model/message.ts';
import type { AgentSpec } from '../model/agent.ts';
import { AdapterError } from './adapter-error.ts';

export interface FoundKey {
  readonly variable: string;
  /** The file of the secret; null: the key is not a secret. */
  readonly file: string | null;
  /** The value of a variable of the sandbox; null: the key is a secret. */
  readonly value: string | null;
}

const secretsFolder = '/run/secrets';

type Environment = Readonly<Record<string, string | undefined>>;

/** Null: the agent needs no key. */
export function findKey({ key }: AgentSpec, env: Environment, folder = secretsFolder): FoundKey | null {
  if (!key) return null;
  const file = join(folder, key.secret);
  if (isReadable(file)) return { variable: key.variable, file, value: null };
  const value = env[key.variable] || env[key.elsewhere ?? ''];
  if (value) return { variable: key.variable, file: null, value };
  throw new AdapterError(
    'MISSING_ENV_VAR',
    `the agent needs ${key.variable}, and this sandbox has neither the secret ${key.secret} nor a credential for it`,
  );
}

/** The environment for agents that read their key from a variable only. */
export function keyEnv(key: FoundKey | null): Record<string, string> {
  if (key === null) return {};
  return { [key.variable]: key.file === null ? key.value! : readFileSync(key.file, 'utf8').trim() };
}

/** Variables that a task request must not set: they carry keys, or change which programs run. */
const notByRequest =
  /(_API_KEY|_TOKEN|_SECRET|_PASSWORD|_CREDENTIALS)$|^(PATH|HOME|LD_.*|NODE_OPTIONS|GIT_.*|CARREL_.*)$/;

export function refuseKeys({ envVars = {}, repoUrl = '' }: TaskRequest): void {
  const name = Object.keys(envVars).find((one) => notByRequest.test(one));
  if (name !== undefined) throw notHere(`payload.envVars.${name}`);
  if (/^https:\/\/[^/@]*:[^/]*@/.test(repoUrl)) throw notHere('payload.repoUrl: a password');
}

function notHere(what: string): AdapterError {
  return new AdapterError(
    'INVALID_INPUT',
    `${what} is not for a task request; keys are given as secrets or credentials`,
  );
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
