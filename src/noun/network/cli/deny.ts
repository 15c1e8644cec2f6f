import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { canonicalRule } from '../model/network.ts';
import { tellRules } from './rule-list.ts';

export async function netDeny(context: Context, { args }: Invocation): Promise<void> {
  const [name, ...rules] = args;
  const path = { name: checkSandboxName(name!) };
  const body = { deny: rules.map(canonicalRule) };
  tellRules(context, path.name, await connect(context).call('POST /v1/sandboxes/{name}/network', { path, body }));
}
