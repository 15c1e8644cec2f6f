import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { hostPortText } from '../../../client/output/host-port.ts';
import type { Output } from '../../../client/output/output.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { paintState } from '../../sandbox/cli/state.ts';
import type { PortRow } from '../api.ts';
import { canonicalRule } from '../model/network.ts';
import { parsePorts } from '../model/published.ts';

export async function netAllow(context: Context, { args }: Invocation): Promise<void> {
  await changeRules(context, 'allow', args);
}

export async function netDeny(context: Context, { args }: Invocation): Promise<void> {
  await changeRules(context, 'deny', args);
}

/** Prints the rules that the sandbox has then, one a line. */
async function changeRules(
  context: Context,
  change: 'allow' | 'deny',
  [name, ...rules]: readonly string[],
): Promise<void> {
  const path = { name: checkSandboxName(name!) };
  const body = { [change]: rules.map(canonicalRule) };
  const answer = connect(context).call('POST /v1/sandboxes/{name}/network', { path, body });
  const { allow } = await printAnswer(context, answer, (view) => view.allow.map(plain));
  if (allow.length === 0) context.out.note(`${path.name} has no rules now, so it may connect to no host`);
}

export async function netPresets(context: Context): Promise<void> {
  const presets = await connect(context).call('GET /v1/network/presets');
  if (context.json) return context.out.document(presets);
  const rows = presets.map(({ name, hosts }) => [plain(name), hosts.map(plain).join(' ')]);
  context.out.print(...table([['PRESET', 'HOSTS'], ...rows]));
  for (const { name, found } of presets)
    for (const { rule, file } of found)
      context.out.note(`${plain(rule)} is in ${plain(name)} because of ${plain(file)}`);
}

interface Options {
  readonly address?: string;
}

export async function portAdd(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const path = { name: checkSandboxName(args[0]!) };
  const { address } = options;
  const body = { ...parsePorts(args[1]!), ...(address === undefined ? {} : { hostAddress: address }) };
  await printAnswer(context, connect(context).call('POST /v1/sandboxes/{name}/ports', { path, body }), hostPortText);
}

export async function portLs(context: Context): Promise<void> {
  const answer = connect(context).call('GET /v1/ports');
  await printAnswer(context, answer, (ports) => portListing(ports, context.out), {
    empty: 'no ports; add one with: carrel port add NAME PORT',
  });
}

export function portListing(ports: readonly PortRow[], out: Output): string[] {
  const rows = ports.map((row) => [
    plain(row.sandbox),
    String(row.port),
    hostPortText(row),
    paintState(out, row.state),
  ]);
  return table([['SANDBOX', 'INSIDE', 'HERE', 'STATE'], ...rows]);
}

export async function portRm(context: Context, { args }: Invocation): Promise<void> {
  const path = { name: checkSandboxName(args[0]!) };
  const answer = connect(context).call('POST /v1/sandboxes/{name}/ports/remove', { path, body: parsePorts(args[1]!) });
  await printAnswer(context, answer, (removed) => removed.map(({ hostPort }) => String(hostPort)));
}
