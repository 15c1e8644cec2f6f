import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { hostPortText } from '../../../client/output/host-port.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { parsePorts } from '../model/published.ts';

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
