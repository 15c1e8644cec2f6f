import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import type { VerdictView } from '../api.ts';
import { checkShareName, consumerText, parseConsumer } from '../model.ts';

/** The exit code is 6 if a consumer failed. A consumer that cannot be probed from here does not count as failed. */
export async function shareVerify(context: Context, { args }: Invocation): Promise<number> {
  const [name, asked] = args;
  const body = asked === undefined ? {} : { consumer: consumerText(parseConsumer(asked)) };
  const path = { name: checkShareName(name!) };
  const probing = connect(context).call('POST /v1/shares/{name}/verify', { path, body });
  const verdicts = await during(context.out, `probing ${name}`, probing);
  if (context.json) context.out.document(verdicts);
  else if (verdicts.length === 0) context.out.note('it has no consumers');
  else context.out.print(...verdictListing(verdicts));
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
