import { statSync } from 'node:fs';
import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { plain, plainLines } from '../../../client/output/text.ts';
import { absolute } from '../../../client/paths.ts';
import { Fault } from '../../../model/fault.ts';
import type { ShareView, VerdictView } from '../api.ts';
import {
  checkShareName,
  consumerText,
  parseConsumer,
  parseConsumerRequest,
  type RenderForm,
  renderForms,
} from '../model.ts';

export async function shareAdd(
  context: Context,
  { args, options }: Invocation<{ readonly at?: readonly string[] }>,
): Promise<void> {
  const name = checkShareName(args[0]!);
  const consumers = (options.at ?? []).map(parseConsumerRequest);
  const body = { name, ...seenFolder(absolute(args[1]!, 'FOLDER')), consumers };
  const answer = connect(context).call('POST /v1/shares', { body });
  warn(context, [await printAnswer(context, answer, (view) => shareListing([view]))]);
}

/** Adds the identity of the folder as this command sees it: the daemon may not see mounts made after its start. */
function seenFolder(folder: string): { readonly folder: string; readonly seen?: string } {
  const stat = statSync(folder, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? { folder } : { folder, seen: `${stat.dev}:${stat.ino}` };
}

export async function shareLs(context: Context): Promise<void> {
  const answer = connect(context).call('GET /v1/shares');
  const empty = 'no shares; add one with: carrel share add NAME FOLDER';
  warn(context, await printAnswer(context, answer, shareListing, { empty }));
}

export async function shareRender(
  context: Context,
  { args, options }: Invocation<{ readonly for?: RenderForm }>,
): Promise<void> {
  const path = { name: checkShareName(args[0]!) };
  if (options.for === undefined)
    throw new Fault('invalid', 'share render needs --for', { hint: `There are: ${renderForms.join(', ')}` });
  const answer = connect(context).call('GET /v1/shares/{name}/render', { path, query: { for: options.for } });
  await printAnswer(context, answer, (view) => plainLines(view.text));
}

export async function shareRevoke(
  context: Context,
  { args, options }: Invocation<{ readonly force?: boolean }>,
): Promise<void> {
  const [name, typed] = args;
  const consumer = typed === undefined ? {} : { consumer: consumerText(parseConsumer(typed)) };
  const body = { ...consumer, ...(options.force ? { force: true } : {}) };
  const answer = connect(context).call('POST /v1/shares/{name}/revoke', {
    path: { name: checkShareName(name!) },
    body,
  });
  const view = await printAnswer(context, answer, ({ revoked }) => revoked.map(plain));
  for (const sandbox of view.stopped) context.out.say(`stopped ${plain(sandbox)}; it had files of the share open`);
  for (const note of view.notes) context.out.say(plain(note));
}

/** The exit code is 6 if a consumer failed. A consumer that cannot be probed from here does not count as failed. */
export async function shareVerify(context: Context, { args }: Invocation): Promise<number> {
  const [name, typed] = args;
  const body = typed === undefined ? {} : { consumer: consumerText(parseConsumer(typed)) };
  const path = { name: checkShareName(name!) };
  const answer = connect(context).call('POST /v1/shares/{name}/verify', { path, body });
  const verdicts = await printAnswer(context, answer, verdictListing, {
    doing: `probing ${name}`,
    empty: 'it has no consumers',
  });
  return verdicts.some(({ result }) => result === 'failed') ? 6 : 0;
}

export function verdictListing(verdicts: readonly VerdictView[]): string[] {
  const rows = verdicts.map(({ consumer, path, result, side, reason }) => [
    plain(consumer.replace(/^sandbox:/, '')),
    plain(path),
    result,
    plain(reason === null ? '' : side === null ? reason : `${side}: ${reason}`),
  ]);
  const hints = verdicts.flatMap(({ consumer, hint }) => (hint === null ? [] : [`${plain(consumer)}: ${plain(hint)}`]));
  return [...table([['CONSUMER', 'PATH', 'RESULT', 'REASON'], ...rows]), ...hints.map((hint) => `hint: ${hint}`)];
}

/** Shares as a table: a line for each consumer. */
function shareListing(shares: readonly ShareView[]): string[] {
  const rows = shares.flatMap(({ name, folder, consumers }) =>
    consumers.length === 0
      ? [[plain(name), plain(folder), '-', '-', '-', 'no consumer']]
      : consumers.map(({ consumer, path, readonly, state, detail }) => [
          plain(name),
          plain(folder),
          plain(consumer.replace(/^sandbox:/, '')),
          plain(path),
          readonly ? 'ro' : 'rw',
          plain(detail === null ? state : `${state}: ${detail}`),
        ]),
  );
  return table([['SHARE', 'FOLDER', 'CONSUMER', 'PATH', 'ACCESS', 'STATE'], ...rows]);
}

function warn(context: Context, shares: readonly ShareView[]): void {
  for (const { name, warnings } of shares) for (const one of warnings) context.out.warn(`share ${name}: ${one}`);
}
