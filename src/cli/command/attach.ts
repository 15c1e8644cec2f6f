import { checkSandboxName } from '../../model/name.ts';
import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { catchSignals } from '../signals.ts';
import { hasInput, sendInput } from '../stream/input.ts';
import { closeSinks, ownSinks, receive } from '../stream/receive.ts';

export default async function attach(context: Context, { args }: Invocation): Promise<number> {
  const name = checkSandboxName(args[0]!);
  const socket = await connect(context).upgrade('attachSandbox', { name });
  const release = catchSignals(() => {
    context.out.warn(`detached; ${name} goes on`);
    process.exit(0);
  });
  if (hasInput()) sendInput(socket, process.stdin);
  try {
    const exit = await receive(socket, ownSinks(context.out));
    closeSinks(context.out, exit);
    return exit.exitCode;
  } finally {
    release();
    socket.destroy();
  }
}
