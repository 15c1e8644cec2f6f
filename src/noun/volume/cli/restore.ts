import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { absolute } from '../../../client/paths.ts';
import { volumeWork } from './work.ts';

/** A bare name that is not a file here is the name of a backup that the daemon keeps. */
function fileOf(asked: string): string {
  return asked !== '' && !asked.includes('/') && !existsSync(asked) ? asked : absolute(asked, 'FILE');
}

export async function volumeRestore(context: Context, { args }: Invocation): Promise<void> {
  const file = fileOf(args[0]!);
  const asked = connect(context).call('POST /v1/volumes/restore', { body: { file } });
  const doing = volumeWork(
    context,
    'restoring the volume',
    (work) => work.doing !== 'packing' && work.file === basename(file),
  );
  const view = await during(context.out, doing, asked);
  for (const note of view.notes) context.out.warn(note);
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.volume.name));
}
