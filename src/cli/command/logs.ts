import { checkSandboxName } from '../../model/name.ts';
import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { parseCount } from '../option.ts';
import { deliver, ownSinks } from '../stream/receive.ts';

interface Options {
  readonly follow?: boolean;
  readonly tail?: string;
}

export default async function logs(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const query = {
    ...(options.follow ? { follow: true } : {}),
    ...(options.tail === undefined ? {} : { tail: parseCount(options.tail, '--tail') }),
  };
  const path = { name: checkSandboxName(args[0]!) };
  await deliver(connect(context).frames('sandboxLogs', { path, query }), ownSinks(context.out));
}
