import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { asFault } from '../../../model/fault.ts';
import { checkVolume } from './volume.ts';

type Options = { readonly backup: boolean; readonly backups?: boolean };

interface Removed {
  readonly line: string;
  readonly view: object;
}

/** Removes each volume by itself; resolves to the exit code of the first failure. */
export async function volumeRm(context: Context, { args, options }: Invocation<Options>): Promise<number> {
  const { out } = context;
  const client = connect(context);
  const remove = options.backups ? removeBackup : (one: Client, name: string) => removeVolume(one, name, options);
  const views: object[] = [];
  let code = 0;
  for (const name of new Set(args)) {
    try {
      const { line, view } = await during(out, `removing ${name}`, remove(client, name));
      views.push(view);
      if (!context.json) out.print(line);
    } catch (error) {
      const failed = out.fail(asFault(error));
      code ||= failed;
    }
  }
  if (context.json) out.document(views);
  return code;
}

async function removeVolume(client: Client, reference: string, { backup }: Options): Promise<Removed> {
  const query = backup ? {} : { backup: false };
  const view = await client.call('DELETE /v1/volumes/{name}', { path: { name: checkVolume(reference) }, query });
  const where = view.backup === null ? '' : `; backup in ${plain(view.backup)}`;
  return { line: `removed ${plain(view.label)}${where}`, view };
}

/** Removes a backup, named by the path that `volume ls --backups` shows, or by the last part of it. */
async function removeBackup(client: Client, file: string): Promise<Removed> {
  const view = await client.call('POST /v1/volumes/backups/remove', { body: { file } });
  return { line: `removed ${plain(view.file)}`, view };
}
