import { printAnswer } from '../../../client/answer.ts';
import type { Context } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import type { Output } from '../../../client/output/output.ts';
import { tableRows } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import type { EngineView } from '../api/engine.ts';

export async function engineLs(context: Context): Promise<void> {
  const request = connect(context).call('GET /v1/engines');
  await printAnswer(context, request, (engines) => engineListing(engines, context.out), {
    doing: 'asking the engines',
  });
}

/** A row for each engine; below an unusable one, the reason and a hint. */
export function engineListing(engines: readonly EngineView[], out: Output): string[] {
  const rows = engines.map(({ name, usable, version, runtime, at }) => [
    name,
    usable ? out.paint('green', 'yes') : out.paint('red', 'no'),
    plain(version ?? '-'),
    plain(runtime ?? '-'),
    plain(at ?? '-'),
  ]);
  const [head, ...blocks] = tableRows([['ENGINE', 'USABLE', 'VERSION', 'RUNTIME', 'SOCKET'], ...rows], out.columns);
  return [...head!, ...blocks.flatMap((lines, index) => [...lines, ...refusal(engines[index]!, out)])];
}

function refusal({ usable, reason, hint }: EngineView, out: Output): string[] {
  if (usable) return [];
  return [`  ${plain(reason ?? '')}`, ...(hint ? [`  ${out.paint('cyan', 'hint:')} ${plain(hint)}`] : [])];
}
