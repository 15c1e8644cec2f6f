import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { hostPortText } from '../../../client/output/host-port.ts';
import type { Output } from '../../../client/output/output.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { paintState } from '../../sandbox/cli/state.ts';
import type { NetworkView, PortRow } from '../api.ts';
import { canonicalRule } from '../model/network.ts';
import { parsePorts } from '../model/published.ts';

export async function netAllow(context: Context, { args }: Invocation): Promise<void> {
  const [name, ...rules] = args;
  const path = { name: checkSandboxName(name!) };
  const body = { allow: rules.map(canonicalRule) };
  tellRules(context, path.name, await connect(context).call('POST /v1/sandboxes/{name}/network', { path, body }));
}

export async function netDeny(context: Context, { args }: Invocation): Promise<void> {
  const [name, ...rules] = args;
  const path = { name: checkSandboxName(name!) };
  const body = { deny: rules.map(canonicalRule) };
  tellRules(context, path.name, await connect(context).call('POST /v1/sandboxes/{name}/network', { path, body }));
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
  const view = await connect(context).call('POST /v1/sandboxes/{name}/ports', { path, body });
  if (context.json) return context.out.document(view);
  context.out.print(hostPortText(view));
}

export async function portLs(context: Context): Promise<void> {
  const ports = await connect(context).call('GET /v1/ports');
  if (context.json) return context.out.document(ports);
  if (ports.length === 0) return context.out.note('no ports; add one with: carrel port add NAME PORT');
  context.out.print(...portListing(ports, context.out));
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
  const removed = await connect(context).call('POST /v1/sandboxes/{name}/ports/remove', {
    path,
    body: parsePorts(args[1]!),
  });
  if (context.json) return context.out.document(removed);
  context.out.print(...removed.map(({ hostPort }) => String(hostPort)));
}

/** The current rules of a sandbox, one a line. */
function tellRules({ json, out }: Context, name: string, network: NetworkView): void {
  if (json) out.document(network);
  else if (network.allow.length === 0) out.note(`${name} has no rules now, so it may connect to no host`);
  else out.print(...network.allow.map(plain));
}
