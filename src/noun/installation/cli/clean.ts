/** Frees disk space: it shows what it would remove, then removes exactly that. */

import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { counted } from '../../../client/output/count.ts';
import { during } from '../../../client/output/progress.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { canAsk, confirm } from '../../../client/stream/confirm.ts';
import { parseDuration } from '../../../model/duration.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import { formatSize } from '../../../model/size.ts';
import type { SandboxView } from '../../sandbox/api.ts';

interface Options {
  readonly older?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

type Piece = {
  readonly kind: 'sandbox' | 'snapshot';
  readonly name: string;
  readonly id: string;
  readonly sizeBytes: number;
  /** When the sandbox ended, or when the snapshot was taken. */
  readonly at: string;
};

const defaultOlder = '7d';

export async function clean(context: Context, { options }: Invocation<Options>): Promise<void> {
  const { out, json } = context;
  const client = connect(context);
  const olderMs = options.older === '0' ? 0 : parseDuration(options.older ?? defaultOlder, '--older');
  const pieces = await during(out, 'looking for what can be removed', found(client, olderMs));
  if (!json) out.print(...shown(pieces));
  const goes = pieces.length > 0 && !options.dryRun && (options.yes || (await agreed(context, pieces)));
  if (goes) await during(out, 'removing', removed(client, pieces));
  if (json) out.document({ removed: goes ? pieces : [], found: pieces });
  else out.say(pieces.length === 0 ? 'there is nothing to remove' : conclusion(pieces, goes));
}

function shown(pieces: readonly Piece[]): string[] {
  return table(
    pieces.map(({ kind, name, id, sizeBytes, at }) => [
      kind,
      plain(kind === 'snapshot' ? `${name}@${id}` : name),
      formatSize(sizeBytes),
      `${age(at)} ago`,
    ]),
  );
}

function conclusion(pieces: readonly Piece[], goes: boolean): string {
  const size = formatSize(pieces.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
  return goes ? `freed ${size}` : `would free ${size}`;
}

async function agreed({ out, json }: Context, pieces: readonly Piece[]): Promise<boolean> {
  if (json || !canAsk(out))
    throw new Fault(
      'invalid',
      `this would remove ${counted(pieces.length, 'thing')}, and stdin is not a terminal to ask at`,
      {
        hint: 'Add --yes, or --dry-run to look only.',
      },
    );
  if (await confirm(`Remove ${pieces.length === 1 ? 'it' : `these ${pieces.length}`}?`)) return true;
  throw new Fault('cancelled', 'nothing was removed');
}

/** Ended sandboxes with nothing to apply, and the automatic snapshots of all others. */
async function found(client: Client, olderMs: number): Promise<Piece[]> {
  const [views, sizes] = await Promise.all([client.call('GET /v1/sandboxes'), client.call('GET /v1/sizes')]);
  const sizeOf = new Map(sizes.map(({ name, sizeBytes }) => [name, sizeBytes]));
  const pieces: Piece[] = [];
  for (const view of views) {
    const { name, id, finishedAt } = view;
    if (await isDone(client, view, olderMs))
      pieces.push({ kind: 'sandbox', name, id, sizeBytes: sizeOf.get(name) ?? 0, at: finishedAt! });
    else pieces.push(...(await oldSnapshots(client, name, olderMs)));
  }
  return pieces;
}

/** Asks the daemon, by a dry run, whether removing the sandbox would lose changes. */
async function isDone(client: Client, { name, id, finishedAt }: SandboxView, staleMs: number): Promise<boolean> {
  if (finishedAt === null || Date.parse(finishedAt) > Date.now() - staleMs) return false;
  try {
    await client.call('DELETE /v1/sandboxes/{name}', { path: { name }, query: { staleMs, id, dryRun: true } });
    return true;
  } catch (error) {
    if (isFault(error, 'conflict') || isFault(error, 'not_found')) return false;
    throw error;
  }
}

async function oldSnapshots(client: Client, name: string, olderMs: number): Promise<Piece[]> {
  const all = await client.call('GET /v1/sandboxes/{name}/snapshots', { path: { name } });
  return all
    .filter(({ auto, createdAt }) => auto && Date.parse(createdAt) <= Date.now() - olderMs)
    .map(({ id, sizeBytes, createdAt }) => ({ kind: 'snapshot', name, id, sizeBytes, at: createdAt }));
}

async function removed(client: Client, pieces: readonly Piece[]): Promise<void> {
  for (const { kind, name, id } of pieces)
    if (kind === 'sandbox') await client.call('DELETE /v1/sandboxes/{name}', { path: { name }, query: { id } });
    else await client.call('DELETE /v1/sandboxes/{name}/snapshots/{snapshot}', { path: { name, snapshot: id } });
}
