import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { attachTo } from './stream/attach.ts';

export async function attach(context: Context, { args }: Invocation): Promise<number> {
  const name = checkSandboxName(args[0]!);
  const client = connect(context);
  const { terminal, engine } = await client.call('GET /v1/sandboxes/{name}', { path: { name } });
  return attachTo(context, client, name, {
    terminal,
    again: `carrel attach ${name}`,
    drawn: true,
    lineLog: engine === 'docker',
  });
}
