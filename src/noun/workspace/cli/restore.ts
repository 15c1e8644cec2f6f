import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { RestoreView, SnapshotView } from '../api.ts';

export async function restore(context: Context, { args }: Invocation): Promise<void> {
  const name = checkSandboxName(args[0]!);
  if (args[1] === '') throw new Fault('invalid', 'SNAPSHOT: the name is empty', { hint: `carrel snapshots ${name}` });
  const asked = connect(context).call('POST /v1/sandboxes/{name}/restore', {
    path: { name },
    body: { snapshot: args[1]! },
  });
  const view = await during(context.out, `restoring ${name}`, asked);
  if (context.json) return context.out.document(view);
  context.out.print(...restored(name, view));
}

export function restored(name: string, { restored: now, before }: RestoreView): string[] {
  return [
    `${name} is back at snapshot ${titleOf(now)}`,
    `what was there before is kept: carrel restore ${name} ${plain(before.id)} brings it back`,
  ];
}

function titleOf({ id, label }: SnapshotView): string {
  return label === null ? plain(id) : `${plain(id)} (${plain(label)})`;
}
