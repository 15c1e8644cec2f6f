import { statSync } from 'node:fs';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { absolute } from '../../../client/paths.ts';
import { checkShareName, parseConsumerRequest } from '../model.ts';
import { shareListing, warn } from './listing.ts';

type Options = { readonly at?: readonly string[] };

export async function shareAdd(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const name = checkShareName(args[0]!);
  const consumers = (options.at ?? []).map(parseConsumerRequest);
  const body = { name, ...seenFolder(absolute(args[1]!, 'FOLDER')), consumers };
  const view = await connect(context).call('POST /v1/shares', { body });
  if (context.json) return context.out.document(view);
  context.out.print(...shareListing([view]));
  warn(context, [view]);
}

/** Adds the identity of the folder as this command sees it: the daemon may not see mounts made after its start. */
function seenFolder(folder: string): { readonly folder: string; readonly seen?: string } {
  const stat = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? { folder } : { folder, seen: `${stat.dev}:${stat.ino}` };
}
