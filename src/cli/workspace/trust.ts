import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { fleetFileName } from '../fleet/file.ts';
import { openTrustFile, trustBody } from '../fleet/trust.ts';
import { plain } from '../output/text.ts';

export default async function trust(context: Context, { args }: Invocation<object>): Promise<void> {
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

/** A folder means the carrel.yaml in it. */
function fileAt(path: string): string {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, fleetFileName) : path;
}
