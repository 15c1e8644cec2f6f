import type { UndoView } from '../../api/workspace.ts';
import { checkSandboxName } from '../../model/name.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { counted } from '../output/count.ts';
import { pathText } from '../output/path-text.ts';
import { during } from '../output/progress.ts';
import { plain } from '../output/text.ts';

export default async function undo(context: Context, { args }: Invocation): Promise<void> {
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
