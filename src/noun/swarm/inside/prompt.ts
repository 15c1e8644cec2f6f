/** The prompt of a story. */
import type { Story, TaskMetadata } from '../model/task.ts';

export function promptOf(story: Story, task: TaskMetadata): string {
  return [
    `You are working on "${task.title}" in the git repository of the current folder. There is no user to ask.`,
    `Do this one story, ${story.id}, completely, and nothing beyond it.`,
    '',
    `# ${story.title}`,
    '',
    story.description,
    ...section('Acceptance criteria', story.acceptanceCriteria),
    ...section('Notes', story.notes ? [story.notes] : []),
    '',
    'Check that every criterion holds, with the tests of the project where there are any. Leave the result in the',
    'working tree: it is committed for you. Do not switch branches, push, or change files in .carrel/tasks or .aimi/tasks.',
    'End with a summary in a few sentences of what you changed.',
    '',
  ].join('\n');
}

function section(heading: string, points: readonly string[]): string[] {
  return points.length === 0 ? [] : ['', `## ${heading}`, ...points.map((point) => `- ${point}`)];
}
