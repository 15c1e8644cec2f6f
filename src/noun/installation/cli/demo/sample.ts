/** The project that `carrel demo` works on: a small library, and three task files for three agents. */
import { dedent } from '../../../../lib/text/dedent.ts';
import type { Story } from '../../../swarm/model/task.ts';

type Files = Readonly<Record<string, string>>;

const project: Files = {
  'package.json': `${JSON.stringify({ name: 'tally', version: '1.0.0', type: 'module', scripts: { test: 'node --test' } }, null, 2)}\n`,
  'README.md': dedent(`
    # tally

    Counts what is in a text.

    ## Use

        import { tally } from './src/tally.js';

    ## What it counts

    - characters
  `),
  'src/tally.js': dedent(`
    /** What there is in a text. */
    export function tally(text) {
      const characters = [...text].length;

      // New counts are added here.
      return { characters };
    }
  `),
  'test/tally.test.js': dedent(`
    import assert from 'node:assert';
    import { test } from 'node:test';
    import { tally } from '../src/tally.js';

    test('characters', () => {
      assert.equal(tally('two words').characters, 9);
    });
  `),
  '.gitignore': 'node_modules/\n.carrel/\n',
};

type Plan = Pick<Story, 'title' | 'description' | 'acceptanceCriteria'> & { readonly after?: readonly number[] };

const words: readonly Plan[] = [
  {
    title: 'Count lines',
    description: 'A function that counts the lines of a text.',
    acceptanceCriteria: ['The last line counts, though nothing ends it.', 'There is a test.'],
  },
  {
    title: 'Count words',
    description: 'A function that counts the words of a text.',
    acceptanceCriteria: ['Whatever is between white space is a word.', 'There is a test.'],
  },
  {
    title: 'Tell of words and lines',
    description: 'tally() tells how many words and lines there are, beside the characters.',
    acceptanceCriteria: ['The README says so.', 'All tests pass.'],
    after: [1, 2],
  },
];

const program: readonly Plan[] = [
  {
    title: 'Print what is in a file',
    description: 'A program that prints what tally() says of a file.',
    acceptanceCriteria: ['One line for each thing that is counted.', 'There is a test.'],
  },
  {
    title: 'Say how it is used',
    description: 'The README tells of the program.',
    acceptanceCriteria: ['It shows a command that works.'],
    after: [1],
  },
];

const characters: readonly Plan[] = [
  {
    title: 'Show what is wrong',
    description: 'Some characters are counted as several. Write a test that shows it.',
    acceptanceCriteria: ['The test is marked as to do.'],
  },
  {
    title: 'Count what people see',
    description: 'A character is what people see as one.',
    acceptanceCriteria: ['The test of the story before passes.'],
    after: [1],
  },
];

export const demoTasks = [
  { feature: 'words', title: 'Count words and lines', type: 'feat', branchName: 'feat/words', stories: words },
  { feature: 'program', title: 'A program', type: 'feat', branchName: 'feat/program', stories: program },
  {
    feature: 'characters',
    title: 'Characters as people see them',
    type: 'bug',
    branchName: 'bug/characters',
    stories: characters,
  },
] as const;

/** Everything but the task files is committed. */
export function sampleFiles(today: string): { readonly project: Files; readonly tasks: Files } {
  const tasks = demoTasks.map((task) => [`.carrel/tasks/${today}-${task.feature}-tasks.json`, taskFile(task, today)]);
  return { project, tasks: Object.fromEntries(tasks) };
}

function taskFile({ title, type, branchName, stories }: (typeof demoTasks)[number], today: string): string {
  const userStories = stories.map(({ after = [], ...story }: Plan, index) => ({
    id: storyId(index + 1),
    ...story,
    priority: index + 1,
    status: 'pending',
    dependsOn: after.map(storyId),
  }));
  const metadata = { title, type, branchName, createdAt: today, maxConcurrency: 2 };
  return `${JSON.stringify({ schemaVersion: '3.0', metadata, userStories }, null, 2)}\n`;
}

function storyId(number: number): string {
  return `US-${String(number).padStart(3, '0')}`;
}
