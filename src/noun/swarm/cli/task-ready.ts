import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { cut, plain } from '../../../client/output/text.ts';
import { taskFile } from './task.ts';

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
