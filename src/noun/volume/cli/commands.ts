import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { absolute } from '../../../client/paths.ts';
import type { MigrateView } from '../api.ts';
import { checkVolume, nameCell, newVolume } from './volume.ts';
import { volumeWork } from './work.ts';

type Options = { readonly plugins?: string };

export async function volumeInit(context: Context, { options }: Invocation<Options>): Promise<void> {
  const body = options.plugins === undefined ? {} : { plugins: absolute(options.plugins, '--plugins') };
  const answer = connect(context).call('POST /v1/volumes', { body });
  await printAnswer(context, answer, (volumes) => volumes.map(({ name }) => plain(name)));
}

export async function volumeCreate(context: Context, { args }: Invocation): Promise<void> {
  const answer = connect(context).call('POST /v1/volumes/named', { body: { name: newVolume(args[0]!) } });
  await printAnswer(context, answer, nameCell);
}

export async function volumeBackup(context: Context, { args }: Invocation): Promise<void> {
  const name = checkVolume(args[0]!);
  const answer = connect(context).call('POST /v1/volumes/{name}/backup', { path: { name } });
  const doing = volumeWork(
    context,
    `packing ${name}`,
    (work) => work.doing === 'packing' && [work.name, work.label ?? work.type].includes(name),
  );
  const view = await during(context.out, doing, answer);
  for (const note of view.notes) context.out.warn(note);
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.file));
}

/** A bare name that is not a file here is the name of a backup that the daemon keeps. */
function fileOf(text: string): string {
  return text !== '' && !text.includes('/') && !existsSync(text) ? text : absolute(text, 'FILE');
}

export async function volumeRestore(context: Context, { args }: Invocation): Promise<void> {
  const file = fileOf(args[0]!);
  const answer = connect(context).call('POST /v1/volumes/restore', { body: { file } });
  const doing = volumeWork(
    context,
    'restoring the volume',
    (work) => work.doing !== 'packing' && work.file === basename(file),
  );
  const view = await during(context.out, doing, answer);
  for (const note of view.notes) context.out.warn(note);
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.volume.name));
}

export async function volumeMigrate(context: Context, { args }: Invocation): Promise<void> {
  const folder = absolute(args[0]!, 'FOLDER');
  const answer = connect(context).call('POST /v1/volumes/migrate', { body: { folder } });
  const view = await printAnswer(context, answer, migrated, { doing: 'copying volumes' });
  for (const { from, reason } of view.left) context.out.warn(`left ${from}: ${reason}`);
  if (view.migrated.length + view.left.length === 0) context.out.say(`${folder} has no volumes with older names`);
}

export function migrated(view: MigrateView): string[] {
  return view.migrated.map(({ from, to, already }) => `${plain(from)} → ${plain(to)}${already ? ' (earlier)' : ''}`);
}
