import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { cut, plain } from '../../../client/output/text.ts';
import { absolute } from '../../../client/paths.ts';
import { checkStoryId, checkStoryStatus, printChanged, taskFile } from './task.ts';

const titleColumns = 80;

export async function taskReady(context: Context, { args }: Invocation): Promise<void> {
  const client = connect(context);
  const task = await client.call('GET /v1/tasks/file', { query: { file: await taskFile(args[0], client) } });
  const stories = task.ready.map((id) => task.stories.find((story) => story.id === id)!);
  if (context.json) return context.out.document(stories);
  if (stories.length === 0) return context.out.note('no story is ready');
  const rows = stories.map(({ id, priority, title }) => [plain(id), String(priority), cut(plain(title), titleColumns)]);
  context.out.print(...table([['ID', 'PRIORITY', 'TITLE'], ...rows]));
}

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

export async function taskSkip(context: Context, { args }: Invocation): Promise<void> {
  const [file, story] = args as [string, string];
  const body = { file: absolute(file, 'FILE'), story: checkStoryId(story) };
  printChanged(context, await connect(context).call('POST /v1/tasks/skip', { body }));
}

export async function taskReset(context: Context, { args }: Invocation): Promise<void> {
  const body = { file: absolute(args[0]!, 'FILE') };
  printChanged(context, await connect(context).call('POST /v1/tasks/reset', { body }));
}
