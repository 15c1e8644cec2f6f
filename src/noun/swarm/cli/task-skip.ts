import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { absolute } from '../../../client/paths.ts';
import { checkStoryId, printChanged } from './task.ts';

export async function taskSkip(context: Context, { args }: Invocation): Promise<void> {
  const [file, story] = args as [string, string];
  const body = { file: absolute(file, 'FILE'), story: checkStoryId(story) };
  printChanged(context, await connect(context).call('POST /v1/tasks/skip', { body }));
}
