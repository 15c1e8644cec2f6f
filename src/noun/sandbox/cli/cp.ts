import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { catchSignals } from '../../../client/signals.ts';
import { isFault } from '../../../model/fault.ts';
import { formatSize } from '../../../model/size.ts';
import { parseCopy } from './copy/copy.ts';
import { pull } from './copy/pull.ts';
import { push } from './copy/push.ts';

export async function cp(context: Context, { args }: Invocation): Promise<void> {
  const { way, sandbox, from, to } = parseCopy(args[0]!, args[1]!);
  const client = connect(context);
  const abort = new AbortController();
  const release = catchSignals(() => abort.abort());
  let passed = () => 0;
  const onOpen = (bytes: () => number) => {
    passed = bytes;
  };
  const inside = { client, name: sandbox, signal: abort.signal, onOpen };
  try {
    const writable = await boundFolders(context.user === null ? client : connect({ ...context, user: null }));
    const order = { inside, home: context.socket === null ? context.home : null, from, to, writable };
    const doing = () => `copied ${formatSize(passed())} of ${from}`;
    await during(context.out, doing, way === 'in' ? push(inside, from, to, writable) : pull(order));
    if (context.json) context.out.document({ from: args[0], to: args[1] });
  } finally {
    release();
  }
}

/** Host folders in which a sandbox may have made links. For the owner these are the folders of all users' sandboxes. */
async function boundFolders(client: Client): Promise<string[]> {
  const sandboxes = await client.call('GET /v1/sandboxes', { query: { allUsers: true } }).catch((error: unknown) => {
    if (!isFault(error, 'denied')) throw error;
    return client.call('GET /v1/sandboxes');
  });
  return sandboxes.flatMap(({ mode, project, shares }) => [
    ...(mode === 'bind' && project !== null ? [project] : []),
    ...shares.flatMap(({ folder, readonly }) => (readonly ? [] : [folder])),
  ]);
}
