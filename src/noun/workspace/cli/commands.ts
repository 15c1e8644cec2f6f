import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { counted } from '../../../client/output/count.ts';
import { pathText } from '../../../client/output/path-text.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { RestoreView, SnapshotView, UndoView } from '../api.ts';
import { commits } from './apply-report.ts';

export async function undo(context: Context, { args }: Invocation): Promise<void> {
  const name = checkSandboxName(args[0]!);
  const answer = connect(context).call('POST /v1/sandboxes/{name}/undo', { path: { name } });
  await printAnswer(context, answer, takenBack, { doing: `undoing the last apply of ${name}` });
}

export function takenBack({ sandboxes, paths }: UndoView): string[] {
  const whose = sandboxes.map(plain).join(', ');
  return [...paths.map((path) => `  ${pathText(path)}`), `took ${counted(paths.length, 'change')} of ${whose} back`];
}

export async function fetchCommits(context: Context, { args }: Invocation): Promise<void> {
  const name = checkSandboxName(args[0]!);
  const answer = connect(context).call('POST /v1/sandboxes/{name}/fetch', { path: { name } });
  const view = await during(context.out, `fetching the commits of ${name}`, answer);
  if (context.json) return context.out.document(view);
  if (view.commits.length === 0) return context.out.say(`${name} has no new commits; see: carrel log ${name}`);
  context.out.print(...commits(view));
}

export async function snapshot(context: Context, { args: [typed, label] }: Invocation): Promise<void> {
  const name = checkSandboxName(typed!);
  const body = label === undefined ? {} : { label };
  const answer = connect(context).call('POST /v1/sandboxes/{name}/snapshots', { path: { name }, body });
  await printAnswer(context, answer, (view) => plain(view.id), { doing: `taking a snapshot of ${name}` });
}

export async function restore(context: Context, { args }: Invocation): Promise<void> {
  const name = checkSandboxName(args[0]!);
  if (args[1] === '') throw new Fault('invalid', 'SNAPSHOT: the name is empty', { hint: `carrel snapshots ${name}` });
  const answer = connect(context).call('POST /v1/sandboxes/{name}/restore', {
    path: { name },
    body: { snapshot: args[1]! },
  });
  await printAnswer(context, answer, (view) => restored(name, view), { doing: `restoring ${name}` });
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

export async function fork(context: Context, { args }: Invocation): Promise<void> {
  const [name, ...names] = args.map(checkSandboxName);
  const body = names.length === 0 ? {} : { names };
  const answer = connect(context).call('POST /v1/sandboxes/{name}/fork', { path: { name: name! }, body });
  await printAnswer(context, answer, (views) => views.map((view) => plain(view.name)), { doing: `forking ${name}` });
}
