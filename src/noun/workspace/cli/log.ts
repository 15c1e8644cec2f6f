import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import type { Output } from '../../../client/output/output.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { LogView } from '../api.ts';
import { showLines } from './review.ts';

interface Options {
  readonly max?: string;
}

const shownDigits = 10;

export async function log(context: Context, { args, options }: Invocation<Options>): Promise<number> {
  const { out } = context;
  const name = checkSandboxName(args[0]!);
  const body = options.max === undefined ? {} : { max: parseCount(options.max, '--max', 1) };
  const answer = connect(context).call('POST /v1/sandboxes/{name}/log', { path: { name }, body });
  const view = await during(out, `fetching the commits of ${name}`, answer);
  if (context.json) out.document(view);
  else if (view.commits.length === 0) out.say(`${name} has no commits of its own`);
  else
    return showLines(
      view.commits.map((commit) => line(commit, out)),
      out,
    );
  return 0;
}

function line({ commit, author, at, subject, refs }: LogView['commits'][number], out: Output): string {
  const id = out.paint('yellow', commit.slice(0, shownDigits));
  const names = refs.length === 0 ? '' : ` ${out.paint('cyan', `(${refs.map(plain).join(', ')})`)}`;
  return `${id} ${plain(at.slice(0, 16).replace('T', ' '))} ${plain(author)}${names} ${plain(subject)}`;
}
