import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { absolute } from '../../../client/paths.ts';
import { printChanged } from './task.ts';

export async function taskReset(context: Context, { args }: Invocation): Promise<void> {
  const body = { file: absolute(args[0]!, 'FILE') };
  printChanged(context, await connect(context).call('POST /v1/tasks/reset', { body }));
}
