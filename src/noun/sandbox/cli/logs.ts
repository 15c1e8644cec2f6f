import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import { deliver, ownSinks } from '../../../client/stream/receive.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { StartErrorFilter } from './stream/start-error-filter.ts';

interface Options {
  readonly follow?: boolean;
  readonly tail?: string;
}

export async function logs(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const query = {
    ...(options.follow ? { follow: true } : {}),
    ...(options.tail === undefined ? {} : { tail: parseCount(options.tail, '--tail') }),
  };
  const path = { name: checkSandboxName(args[0]!) };
  const client = connect(context);
  const own = ownSinks(context.out);
  if (context.json) return void (await deliver(client.frames('GET /v1/sandboxes/{name}/logs', { path, query }), own));
  const startErrors = new StartErrorFilter(own);
  await deliver(client.frames('GET /v1/sandboxes/{name}/logs', { path, query }), startErrors.sinks);
  if (!startErrors.isBuffering) return;
  const view = await client.call('GET /v1/sandboxes/{name}', { path });
  const refusal = await startErrors.refusal(view, view.command);
  if (refusal) context.out.warn(refusal.message);
}
