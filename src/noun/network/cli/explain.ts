import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import type { Output } from '../../../client/output/output.ts';
import { plain } from '../../../client/output/text.ts';
import { endpointText, parseEndpoint } from '../../../model/host.ts';
import { checkSandboxName } from '../../../model/name.ts';
import type { ExplainView, PresetExplainView } from '../api.ts';

const httpsPort = 443;

export async function netExplain(context: Context, { args }: Invocation): Promise<void> {
  if (args[1] === undefined) return explainDefault(context, args[0]!);
  const path = { name: checkSandboxName(args[0]!) };
  const endpoint = endpointText(parseEndpoint(args[1], httpsPort));
  const answer = connect(context).call('POST /v1/sandboxes/{name}/network/explain', {
    path,
    body: { asked: endpoint },
  });
  await printAnswer(context, answer, (view) => explanation(view, path.name, context.out));
}

/** Explains the default rules when no sandbox is named. */
async function explainDefault(context: Context, place: string): Promise<void> {
  const endpoint = endpointText(parseEndpoint(place, httpsPort));
  const answer = connect(context).call('POST /v1/network/explain', { body: { asked: endpoint } });
  await printAnswer(context, answer, (view) => defaultExplanation(view, context.out));
}

export function defaultExplanation(
  { asked, allowed, reason, presets, addresses }: PresetExplainView,
  out: Output,
): string[] {
  const hint = `  ${out.paint('cyan', 'hint:')} carrel run --network ${plain(presets.at(-1) ?? asked)} …`;
  if (allowed)
    return [
      `${plain(asked)} is ${out.paint('green', 'allowed')} by network.allow of config.yaml (${plain(reason)})`,
      ...(addresses.length > 0 ? [`  dialled at ${addresses.map(plain).join(', ')}`] : []),
    ];
  return [
    `${plain(asked)} is ${out.paint('red', 'refused')} without --network: ${plain(reason)}`,
    ...(presets.length > 0 ? [`  the presets ${presets.map(plain).join(', ')} allow it`] : []),
    hint,
  ];
}

export function explanation(view: ExplainView, name: string, out: Output): string[] {
  const { asked, allowed, reason, refusal, addresses } = view;
  const verdict = allowed ? out.paint('green', 'allowed') : out.paint('red', 'refused');
  const why = allowed ? plain(reason.replace(/^allowed /, '')) : plain(reason);
  return [
    `${plain(asked)} is ${verdict}${allowed ? ' ' : ': '}${why}`,
    ...(addresses.length > 0 ? [`  dialled at ${addresses.map(plain).join(', ')}`] : []),
    ...(refusal === 'not_allowed' || refusal === 'port_not_allowed'
      ? [`  ${out.paint('cyan', 'hint:')} carrel net allow ${plain(name)} ${plain(asked)}`]
      : []),
  ];
}
