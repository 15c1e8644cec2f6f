import { existsSync } from 'node:fs';
import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { reviewFields } from '../../../client/paths.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { checkSandboxName, printable, sandboxNamePattern } from '../../../model/name.ts';
import { diffStat, ignoredLines, nameStatus } from './diff-stat.ts';
import { review, showLines } from './review.ts';

interface Options {
  readonly ignored?: boolean;
  readonly stat?: boolean;
  readonly nameStatus?: boolean;
}

export async function diff(context: Context, { args, options, command }: Invocation<Options>): Promise<number> {
  const { out } = context;
  checkOptions(options);
  const client = connect(context);
  const compared = await parseCompared(client, args, command);
  const input = await inputOf(client, compared, options);
  const doing = `comparing ${stateText(compared.state)}`;
  if (context.json || options.stat || options.nameStatus) {
    const view = await during(out, doing, client.call('POST /v1/sandboxes/{name}/changes', input));
    if (context.json) out.document(view);
    else if (view.changes.length === 0)
      for (const line of [nothing(compared, view.hiddenInGit), ...ignoredLines(view.ignored)]) out.say(line);
    else return showLines(options.stat ? diffStat(view, out, out.columns) : nameStatus(view.changes), out);
    return 0;
  }
  const frames = (signal?: AbortSignal) =>
    client.frames('POST /v1/sandboxes/{name}/diff', { ...input, ...(signal ? { signal } : {}) });
  const { empty, exitCode } = await review(frames, out, doing);
  if (empty) out.say(nothing(compared, 0));
  return exitCode;
}

async function inputOf(client: Client, { state, against, paths }: Compared, options: Options) {
  const { name, snapshot } = state;
  const fields = await reviewFields(client, name, paths, options);
  const body = { ...fields, ...(snapshot === undefined ? {} : { snapshot }), ...(against ? { against } : {}) };
  return { path: { name }, body };
}

function nothing({ state, against }: Compared, hiddenInGit: number): string {
  if (against === undefined) return unchanged(stateText(state), hiddenInGit);
  return `${stateText(state)} and ${stateText(against)} do not differ`;
}

export function unchanged(name: string, hiddenInGit: number): string {
  return `${name} has no changes${hiddenInGit === 0 ? '' : `, apart from ${hiddenInGit} inside .git`}`;
}

function checkOptions({ stat, nameStatus: names }: Options): void {
  if (stat && names) {
    throw new Fault('invalid', '--stat and --name-status exclude each other', { hint: 'Give one of them.' });
  }
}

/** `NAME` or `NAME@SNAPSHOT`: a sandbox as it is now, or as a snapshot keeps it. */
interface StateName {
  readonly name: string;
  readonly snapshot?: string;
}

function parseState(text: string): StateName {
  const at = text.indexOf('@');
  if (at < 0) return { name: checkSandboxName(text) };
  const [name, snapshot] = [checkSandboxName(text.slice(0, at)), text.slice(at + 1)];
  if (snapshot !== '') return { name, snapshot };
  throw new Fault('invalid', `${printable(text)}: the snapshot after @ is missing`, {
    hint: `Choose one of: carrel snapshots ${name}`,
  });
}

function stateText({ name, snapshot }: StateName): string {
  return snapshot === undefined ? name : `${name}@${snapshot}`;
}

interface Compared {
  readonly state: StateName;
  /** Undefined: the state is compared with the base. */
  readonly against: StateName | undefined;
  readonly paths: readonly string[];
}

/** The second word is a sandbox if one has that name; after `--` all words are paths. */
async function parseCompared(
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
