/** `rm --all` and `rm --stale`: the sandboxes are shown and removed after a confirmation; the daemon checks each again. */

import type { Context } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { counted } from '../../../client/output/count.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { canAsk, confirm } from '../../../client/stream/confirm.ts';
import { asFault, Fault, isFault } from '../../../model/fault.ts';
import type { SandboxView } from '../api.ts';
import { inBatches } from './each.ts';

export interface RemovalOrder {
  /** How long ago the sandboxes must have ended; null: any time. */
  readonly staleMs: number | null;
  readonly force: boolean;
  readonly yes: boolean;
}

export interface KeptSandbox {
  readonly name: string;
  readonly reason: string;
}

export interface RemovalResult {
  readonly removed: readonly SandboxView[];
  /** Sandboxes that are kept because changes would be lost. */
  readonly kept: readonly KeptSandbox[];
  readonly failed: readonly Fault[];
}

export async function removeMany(context: Context, order: RemovalOrder): Promise<number> {
  const { out } = context;
  const client = connect(context);
  const found = (await client.call('GET /v1/sandboxes')).filter((view) => isMeant(view, order));
  const attempt = (views: readonly SandboxView[], dryRun: boolean) => tried(client, views, order, dryRun);
  if (!order.yes) {
    const plan = await during(out, 'reading the sandboxes', attempt(found, true));
    for (const line of forecast(plan)) out.say(line);
    if (plan.removed.length === 0) return concluded(context, plan);
    await agreed(context, plan);
    const result = await during(out, 'removing', attempt(plan.removed, false));
    return concluded(context, {
      ...result,
      kept: [...plan.kept, ...result.kept],
      failed: [...plan.failed, ...result.failed],
    });
  }
  const result = await during(out, 'removing', attempt(found, false));
  for (const line of result.kept.map(keptText)) out.say(line);
  return concluded(context, result);
}

/** Selects sandboxes by this machine's clock; the daemon checks the age again by its own clock. */
function isMeant({ state, finishedAt }: SandboxView, { staleMs, force }: RemovalOrder): boolean {
  const ended = state !== 'running' && state !== 'pending';
  if (staleMs === null) return ended || force;
  return ended && finishedAt !== null && Date.parse(finishedAt) <= Date.now() - staleMs;
}

/** Removes each sandbox, or keeps it with the reason. The failure of one does not affect the others. */
async function tried(
  client: Client,
  views: readonly SandboxView[],
  { staleMs, force }: RemovalOrder,
  dryRun: boolean,
): Promise<RemovalResult> {
  const query = {
    ...(staleMs === null ? {} : { staleMs }),
    ...(force ? { force } : {}),
    ...(dryRun ? { dryRun } : {}),
  };
  const results = await inBatches(views, ({ name }) =>
    client.call('DELETE /v1/sandboxes/{name}', { path: { name }, query }),
  );
  const refused = results.flatMap((result, index) =>
    result.status === 'rejected' ? [{ name: views[index]!.name, fault: asFault(result.reason) }] : [],
  );
  return {
    removed: results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    kept: refused
      .filter(({ fault }) => isFault(fault, 'conflict'))
      .map(({ name, fault }) => ({ name, reason: fault.message })),
    // `not_found`: another command removed the sandbox first.
    failed: refused
      .map(({ fault }) => fault)
      .filter((fault) => !isFault(fault, 'conflict') && !isFault(fault, 'not_found')),
  };
}

export function forecast({ removed, kept }: RemovalResult, now?: number): string[] {
  if (removed.length === 0) return ['there is nothing to remove', ...kept.map(keptText)];
  return [...removed.map((view) => `would remove ${plain(view.name)}, ${endText(view, now)}`), ...kept.map(keptText)];
}

function endText({ state, finishedAt }: SandboxView, now?: number): string {
  return `${state} ${finishedAt === null ? '' : `${age(finishedAt, now)} ago`}`.trimEnd();
}

function keptText({ name, reason }: KeptSandbox): string {
  return `kept ${plain(name)}: ${plain(reason)}`;
}

async function agreed({ out }: Context, { removed, kept }: RemovalResult): Promise<void> {
  const what = counted(removed.length, 'sandbox', 'sandboxes');
  if (!canAsk(out)) {
    throw new Fault('invalid', `this would remove ${what}, and stdin is not a terminal to ask at`, {
      hint: 'Add --yes.',
      data: { removed: removed.map(({ name }) => name), kept },
    });
  }
  if (!(await confirm(`Remove ${what}?`))) throw new Fault('cancelled', 'nothing was removed');
}

function concluded({ out, json }: Context, { removed, kept, failed }: RemovalResult): number {
  const codes = failed.map((fault) => out.fail(fault));
  if (json) out.document({ removed, kept });
  else out.print(...removed.map(({ name }) => plain(name)));
  return codes[0] ?? 0;
}
