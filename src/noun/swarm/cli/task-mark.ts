import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { absolute } from '../../../client/paths.ts';
import { checkStoryId, checkStoryStatus, printChanged } from './task.ts';

type Options = { readonly notes?: string; readonly force?: boolean };

export async function taskMark(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const [file, story, status] = args as [string, string, string];
  const body = {
    file: absolute(file, 'FILE'),
    story: checkStoryId(story),
    status: checkStoryStatus(status),
    ...(options.notes === undefined ? {} : { notes: options.notes }),
    ...(options.force ? { force: true } : {}),
  };
  printChanged(context, await connect(context).call('POST /v1/tasks/mark', { body }));
}
