/** `NAME` or `NAME@SNAPSHOT` on the command line: a sandbox as it is now, or as a snapshot keeps it. */
import { existsSync } from 'node:fs';
import type { Client } from '../../../client/client.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { checkSandboxName, printable, sandboxNamePattern } from '../../../model/name.ts';

export interface StateName {
  readonly name: string;
  readonly snapshot?: string;
}

export function parseState(text: string): StateName {
  const at = text.indexOf('@');
  if (at < 0) return { name: checkSandboxName(text) };
  const [name, snapshot] = [checkSandboxName(text.slice(0, at)), text.slice(at + 1)];
  if (snapshot !== '') return { name, snapshot };
  throw new Fault('invalid', `${printable(text)}: the snapshot after @ is missing`, {
    hint: `Choose one of: carrel snapshots ${name}`,
  });
}

export function stateText({ name, snapshot }: StateName): string {
  return snapshot === undefined ? name : `${name}@${snapshot}`;
}

export interface Compared {
  readonly state: StateName;
  /** Undefined: the state is compared with the base. */
  readonly against: StateName | undefined;
  readonly paths: readonly string[];
}

/** The second word is a sandbox if one has that name; after `--` all words are paths. */
export async function parseCompared(
  client: Client,
  [first, second, ...rest]: readonly string[],
  paths: readonly string[],
): Promise<Compared> {
  const state = parseState(first!);
  const against = second === undefined ? undefined : await stateCalled(client, second);
  if (against !== undefined && existsSync(second!)) throw ambiguous(first!, second!);
  const words = against === undefined && second !== undefined ? [second, ...rest] : rest;
  return { state, against, paths: [...words, ...paths] };
}

/** Undefined: no sandbox has this name, so the word is a path. */
async function stateCalled(client: Client, word: string): Promise<StateName | undefined> {
  const name = word.split('@')[0]!;
  if (!sandboxNamePattern.test(name)) return undefined;
  try {
    await client.call('GET /v1/sandboxes/{name}', { path: { name } });
  } catch (error) {
    if (isFault(error, 'not_found')) return undefined;
    throw error;
  }
  return parseState(word);
}

function ambiguous(first: string, word: string): Fault {
  return new Fault('invalid', `${printable(word)} is a sandbox and a path`, {
    hint: `For the path: carrel diff ${first} -- ${word}\nFor the sandbox, change to another folder first.`,
  });
}
