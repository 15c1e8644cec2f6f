import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { shareListing, warn } from './listing.ts';

export async function shareLs(context: Context): Promise<void> {
  const shares = await connect(context).call('GET /v1/shares');
  if (context.json) return context.out.document(shares);
  if (shares.length === 0) return context.out.note('no shares; add one with: carrel share add NAME FOLDER');
  context.out.print(...shareListing(shares));
  warn(context, shares);
}
