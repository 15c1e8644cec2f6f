import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import type { Output } from '../../../client/output/output.ts';
import { table } from '../../../client/output/table.ts';
import { cut, plain } from '../../../client/output/text.ts';
import { absolute } from '../../../client/paths.ts';
import type { TaskEntryView, TaskView } from '../api/task.ts';
import { progressCell, statusCell } from './task.ts';

const titleColumns = 60;

export async function taskList(context: Context, { args }: Invocation): Promise<void> {
  const path = absolute(args[0] ?? '.', 'PATH');
  const client = connect(context);
  if (path.endsWith('.json')) {
    const task = await client.call('GET /v1/tasks/file', { query: { file: path } });
    return context.json ? context.out.document(task) : context.out.print(...stories(task, context.out));
  }
  const files = await client.call('GET /v1/tasks', { query: { project: path } });
  if (context.json) return context.out.document(files);
  if (files.length === 0)
    return context.out.note('no task files; put one into .carrel/tasks, named like 2026-01-31-login-tasks.json');
  context.out.print(...listing(files, context.out));
}

export function listing(files: readonly TaskEntryView[], out: Output): string[] {
  const rows = files.map(({ file, branchName, progress, title, problems }) => [
    plain(file),
    plain(branchName ?? '-'),
    progress === null ? '-' : progressCell(progress),
    title === null ? out.paint('red', `invalid: ${plain(problems[0]?.reason ?? '')}`) : cut(plain(title), titleColumns),
  ]);
  return table([['FILE', 'BRANCH', 'STORIES', 'TITLE'], ...rows]);
}

export function stories({ stories: all }: TaskView, out: Output): string[] {
  const rows = all.map((story) => [
    plain(story.id),
    statusCell(out, story),
    String(story.priority),
    story.dependsOn.map(plain).join(', ') || '-',
    cut(plain(story.title), titleColumns),
  ]);
  return table([['ID', 'STATUS', 'PRIORITY', 'DEPENDS ON', 'TITLE'], ...rows]);
}
