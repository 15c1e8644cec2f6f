import { Fault } from '../../model/fault.ts';
import { checkSandboxName } from '../../model/name.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { diffStat, ignoredLines, nameStatus } from '../output/diff-stat.ts';
import { during } from '../output/progress.ts';
import { askedReview } from '../paths.ts';
import { review, showLines } from '../stream/review.ts';

interface Options {
  readonly ignored?: boolean;
  readonly stat?: boolean;
  readonly nameStatus?: boolean;
}

export default async function diff(context: Context, { args, options }: Invocation<Options>): Promise<number> {
  const { out } = context;
  checkOptions(options);
  const name = checkSandboxName(args[0]!);
  const client = connect(context);
  const input = { path: { name }, body: await askedReview(client, name, args.slice(1), options) };
  const doing = `comparing ${name}`;
  if (context.json || options.stat || options.nameStatus) {
    const view = await during(out, doing, client.call('POST /v1/sandboxes/{name}/changes', input));
    if (context.json) out.document(view);
    else if (view.changes.length === 0)
      for (const line of [unchanged(name, view.hiddenInGit), ...ignoredLines(view.ignored)]) out.say(line);
    else return showLines(options.stat ? diffStat(view, out, out.columns) : nameStatus(view.changes), out);
    return 0;
  }
  const frames = (signal?: AbortSignal) =>
    client.frames('POST /v1/sandboxes/{name}/diff', { ...input, ...(signal ? { signal } : {}) });
  const { empty, exitCode } = await review(frames, out, doing);
  if (empty) out.say(unchanged(name, 0));
  return exitCode;
}

export function unchanged(name: string, hiddenInGit: number): string {
  return `${name} has no changes${hiddenInGit === 0 ? '' : `, apart from ${hiddenInGit} inside .git`}`;
}

function checkOptions({ stat, nameStatus: names }: Options): void {
  if (stat && names) {
    throw new Fault('invalid', '--stat and --name-status exclude each other', { hint: 'Give one of them.' });
  }
}
