import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { askedReview } from '../../../client/paths.ts';
import { Fault } from '../../../model/fault.ts';
import { diffStat, ignoredLines, nameStatus } from './diff-stat.ts';
import { review, showLines } from './review.ts';
import { type Compared, parseCompared, stateText } from './state-name.ts';

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
  const asked = await askedReview(client, name, paths, options);
  const body = { ...asked, ...(snapshot === undefined ? {} : { snapshot }), ...(against ? { against } : {}) };
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
