/** Parses environment variables: `-e K=V`, `-e K` for the value of this process, and files of such lines. */
import { readFileSync, statSync } from 'node:fs';
import { Fault } from '../model/fault.ts';
import { printable, variableNamePattern } from '../model/name.ts';
import { naming } from './option.ts';

export interface EnvOptions {
  readonly env?: readonly string[];
  readonly envFile?: readonly string[];
}

const maxFileBytes = 1024 * 1024;

/** The variables of all files, in their order, overridden by `--env`. Undefined: neither option is given. */
export function envFrom({ env, envFile }: EnvOptions): Record<string, string> | undefined {
  if (env === undefined && envFile === undefined) return undefined;
  const read = (envFile ?? []).map((path) => parseEnvFile(fileText(path), path));
  return Object.assign(
    {},
    ...read,
    naming('--env', () => parseEnv(env ?? [])),
  );
}

export function parseEnv(texts: readonly string[], own: NodeJS.ProcessEnv = process.env): Record<string, string> {
  return Object.fromEntries(texts.map((text) => variable(text, own)));
}

/** Parses one variable a line; quotes are part of the value. Lines that begin with `#` are comments. */
export function parseEnvFile(text: string, path: string, own = process.env): Record<string, string> {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  const pairs = lines.flatMap((line, index) => {
    const words = line.trimStart();
    if (words === '' || words.startsWith('#')) return [];
    return [naming(`--env-file ${printable(path)}:${index + 1}`, () => variable(words, own))];
  });
  return Object.fromEntries(pairs);
}

function variable(text: string, own: NodeJS.ProcessEnv): [name: string, value: string] {
  const at = text.indexOf('=');
  const name = at < 0 ? text : text.slice(0, at);
  if (!variableNamePattern.test(name))
    throw new Fault('invalid', `${printable(name)} is not the name of a variable`, {
      hint: 'Write KEY=VALUE; names have letters, digits and "_", and do not start with a digit.',
    });
  const value = at < 0 ? own[name] : text.slice(at + 1);
  if (value !== undefined) return [name, value];
  throw new Fault('invalid', `${name} is not set here`, {
    hint: `Write ${name}=VALUE; an empty value is ${name}=`,
  });
}

function fileText(path: string): string {
  try {
    if (statSync(path).size > maxFileBytes) throw new Fault('invalid', `--env-file: ${printable(path)} is over 1 MiB`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault('invalid', `--env-file: ${(error as Error).message}`, { cause: error });
  }
}
