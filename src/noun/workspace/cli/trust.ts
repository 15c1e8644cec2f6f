import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { fleetFileName } from '../../../client/project-file/file.ts';
import { openTrustFile, trustBody } from '../../../client/project-file/trust.ts';

export async function trust(context: Context, { args, options }: Invocation<{ rm?: boolean }>): Promise<void> {
  if (options.rm) return revoke(context, args[0] ?? '.');
  const view = await connect(context).call('POST /v1/trust', {
    body: await trustBody(openTrustFile(fileAt(args[0] ?? '.'))),
  });
  if (context.json) {
    context.out.document(view);
    return;
  }
  for (const grant of view.grants) context.out.print(`${view.added.includes(grant) ? '+' : ' '} ${plain(grant)}`);
  context.out.say(view.grants.length === 0 ? `${view.file} gives nothing that needs trust` : `trusted ${view.file}`);
}

async function revoke(context: Context, named: string): Promise<void> {
  const body = { file: settledPath(fileAt(named)) };
  const { file } = await connect(context).call('POST /v1/trust/revoke', { body });
  if (context.json) context.out.document({ file });
  else context.out.say(`${file} is not trusted any more; sandboxes keep what they have`);
}

/** With links in its folder resolved, as the daemon knows the file, which may not exist any more. */
function settledPath(path: string): string {
  const folder = resolve(dirname(path));
  return join(existsSync(folder) ? realpathSync(folder) : folder, basename(path));
}

/** A folder means the carrel.yaml in it. */
function fileAt(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, fleetFileName) : path;
}
