import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { counted } from '../../../client/output/count.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { canAsk, confirm } from '../../../client/stream/confirm.ts';
import { Fault } from '../../../model/fault.ts';
import { formatSize } from '../../../model/size.ts';
import type { CleanView } from '../api.ts';
import { checkVolume } from './volume.ts';

interface Options {
  readonly yes?: boolean;
  readonly backup: boolean;
}

interface Order {
  readonly names?: string[];
  readonly backup: boolean;
}

export async function volumeClean(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const { out } = context;
  const client = connect(context);
  const request = { ...(args.length === 0 ? {} : { names: args.map(checkVolume) }), backup: options.backup };
  const order = options.yes ? request : await agreed(context, client, request);
  if (order === null) return;
  const view = await during(out, 'removing volumes', client.call('POST /v1/volumes/clean', { body: order }));
  if (context.json) return out.document(view);
  if (view.removed.length === 0) out.say('there is nothing to remove');
  out.print(...cleaned(view));
}

/**
 * Asks the user, and names the volumes that were shown, so that no newer volume is removed. Null: nothing to remove.
 */
async function agreed(context: Context, client: Client, order: Order): Promise<Order | null> {
  const { out } = context;
  const body = { ...order, dryRun: true };
  const plan = await during(out, 'measuring the volumes', client.call('POST /v1/volumes/clean', { body }));
  if (plan.removed.length === 0) {
    if (context.json) out.document(plan);
    for (const line of ['there is nothing to remove', ...forecast(plan, order.backup)]) out.say(line);
    return null;
  }
  for (const line of forecast(plan, order.backup)) out.say(line);
  if (!canAsk(out)) throw unconfirmed(plan);
  if (!(await confirm(`Remove ${counted(plan.removed.length, 'volume')}?`)))
    throw new Fault('cancelled', 'nothing was removed');
  return { ...order, names: plan.removed.map(({ name }) => name) };
}

export function forecast({ removed, kept }: CleanView, backup: boolean): string[] {
  const after = backup ? 'after a backup' : 'without a backup';
  return [
    ...removed.map(({ name, sizeBytes }) => `would remove ${plain(name)}${sizeText(sizeBytes)} ${after}`),
    ...kept.map(keptText),
  ];
}

export function cleaned({ removed, kept }: CleanView): string[] {
  return [
    ...removed.map(({ name, sizeBytes, backup }) => {
      const where = backup === null ? '' : `; backup in ${plain(backup)}`;
      return `removed ${plain(name)}${sizeText(sizeBytes)}${where}`;
    }),
    ...kept.map(keptText),
  ];
}

function keptText({ name, mountedBy }: CleanView['kept'][number]): string {
  return `kept ${plain(name)}, in use: ${mountedBy.map(plain).join(', ')}`;
}

function sizeText(sizeBytes: number | null): string {
  return sizeBytes === null ? '' : ` (${formatSize(sizeBytes)})`;
}

function unconfirmed(plan: CleanView): Fault {
  const what = counted(plan.removed.length, 'volume');
  return new Fault('invalid', `this would remove ${what}, and stdin is not a terminal to ask at`, {
    hint: 'Add --yes, or name the volumes that may go and add it.',
    data: { ...plan },
  });
}
