import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { counted } from '../../../client/output/count.ts';
import { pathText } from '../../../client/output/path-text.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { UndoView } from '../api.ts';

export async function undo(context: Context, { args }: Invocation): Promise<void> {
  const name = checkSandboxName(args[0]!);
  const asked = connect(context).call('POST /v1/sandboxes/{name}/undo', { path: { name } });
  const view = await during(context.out, `undoing the last apply of ${name}`, asked);
  if (context.json) return context.out.document(view);
  context.out.print(...takenBack(view));
}

export function takenBack({ sandboxes, paths }: UndoView): string[] {
  const whose = sandboxes.map(plain).join(', ');
  return [...paths.map((path) => `  ${pathText(path)}`), `took ${counted(paths.length, 'change')} of ${whose} back`];
}
