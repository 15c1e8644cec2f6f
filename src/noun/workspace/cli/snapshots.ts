import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { during } from '../../../client/output/progress.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { formatSize } from '../../../model/size.ts';
import type { SnapshotView } from '../api.ts';

export async function snapshots(context: Context, { args, options }: Invocation<{ rm?: string[] }>): Promise<void> {
  const name = checkSandboxName(args[0]!);
  if (options.rm) return remove(context, name, options.rm);
  const answer = connect(context).call('GET /v1/sandboxes/{name}/snapshots', { path: { name } });
  const all = await during(context.out, `reading the snapshots of ${name}`, answer);
  if (context.json) return context.out.document(all);
  if (all.length === 0) return context.out.say(`${name} has no snapshots; take one with: carrel snapshot ${name}`);
  context.out.print(...history(all));
}

async function remove(context: Context, name: string, snapshots: readonly string[]): Promise<void> {
  const client = connect(context);
  const removed: SnapshotView[] = [];
  for (const snapshot of snapshots) {
    const path = { name, snapshot };
    const answer = client.call('DELETE /v1/sandboxes/{name}/snapshots/{snapshot}', { path });
    removed.push(await during(context.out, `removing snapshot ${plain(snapshot)} of ${name}`, answer));
    if (!context.json) context.out.print(plain(removed.at(-1)!.id));
  }
  if (context.json) context.out.document(removed);
}

export function history(all: readonly SnapshotView[], now?: number): string[] {
  const rows = all.map((one) => [plain(one.id), labelCell(one), age(one.createdAt, now), formatSize(one.sizeBytes)]);
  return table([['ID', 'LABEL', 'AGE', 'SIZE'], ...rows]);
}

function labelCell({ label, auto }: SnapshotView): string {
  return [...(label === null ? [] : [plain(label)]), ...(auto ? ['(auto)'] : [])].join(' ') || '-';
}
