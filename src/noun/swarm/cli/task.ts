/** Shared by the commands about task files. */
import { join } from 'node:path';
import type { Context } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import type { Colour, Output } from '../../../client/output/output.ts';
import { plain } from '../../../client/output/text.ts';
import { absolute } from '../../../client/paths.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import type { ChangedStoriesView, StoryView, TaskEntryView, TaskView } from '../api/task.ts';
import { type StoryStatus, storyIdPattern, storyStatuses } from '../model/message.ts';

/** The absolute path of the named file, or of the only task file of the current project. */
export async function taskFile(file: string | undefined, client: Client): Promise<string> {
  if (file !== undefined) return absolute(file, 'FILE');
  const project = absolute('.', 'PROJECT');
  const files = await client.call('GET /v1/tasks', { query: { project } });
  if (files.length === 1) return join(project, files[0]!.file);
  throw files.length === 0 ? noTasks(project) : severalTasks(files);
}

export function noTasks(project: string): Fault {
  return new Fault('not_found', `no task files in ${printable(project)}`, {
    hint: 'Put one into .carrel/tasks, named like 2026-01-31-login-tasks.json.',
  });
}

function severalTasks(files: readonly TaskEntryView[]): Fault {
  return new Fault('invalid', 'there are several task files here', {
    hint: `Name one of ${files.map(({ file }) => file).join(', ')}.`,
  });
}

export function checkStoryId(text: string): string {
  if (storyIdPattern.test(text)) return text;
  throw new Fault('invalid', `${printable(text)} is not the id of a story`, { hint: 'Ids look like US-001.' });
}

export function checkStoryStatus(text: string): StoryStatus {
  if ((storyStatuses as readonly string[]).includes(text)) return text as StoryStatus;
  throw new Fault('invalid', `${printable(text)} is not a status`, { hint: `Use one of ${storyStatuses.join(', ')}.` });
}

const colours: { readonly [status in StoryStatus]: Colour } = {
  pending: 'dim',
  in_progress: 'cyan',
  completed: 'green',
  failed: 'red',
  skipped: 'yellow',
};

export function statusCell(out: Output, { status, ready }: Pick<StoryView, 'status' | 'ready'>): string {
  return ready ? out.paint('bold', 'ready') : out.paint(colours[status], status);
}

/** `2/5 (1 failed)`: completed and total, then stories in progress, failed and skipped. */
export function progressCell({ total, completed, failed, inProgress, skipped }: TaskView['progress']): string {
  const marks = [
    ...(inProgress > 0 ? [`${inProgress} in progress`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ];
  return [`${completed}/${total}`, ...(marks.length > 0 ? [`(${marks.join(', ')})`] : [])].join(' ');
}

/** Prints the stories that were changed. */
export function printChanged({ json, out }: Context, view: ChangedStoriesView): void {
  const stories = view.task.stories.filter(({ id }) => view.changed.includes(id));
  if (json) out.document(view);
  else out.print(...stories.map(({ id, status }) => `${plain(id)} ${status}`));
  if (stories.length === 0) out.note('nothing to change');
}
