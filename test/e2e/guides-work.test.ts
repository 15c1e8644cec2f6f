// @needs root
// @takes 45 s
import { describe } from 'vitest';
import type { Question, Turn } from '../fixtures/scripted-model.ts';
import { type Guide, type Page, runsEachCommand } from './guide.ts';
import { withClaude } from './guide-services.ts';
import { hasTasks, workOnAnotherStory } from './guide-swarm.ts';

/** Makes the sandbox change files in its working copy, each time anew. */
async function changes({ carrel }: Guide, name: string): Promise<void> {
  await carrel.ok(
    'exec',
    name,
    '--',
    'sh',
    '-c',
    'for file in src/login.ts lib/form.ts docs/login.md; do echo "// more" >> $file; done',
  );
}

function fixesLogin(_: Question, said: number): Turn {
  if (said > 0) return [{ text: 'It is fixed.' }];
  return [{ tool: 'Bash', input: { command: 'echo "// fixed" >> lib/form.ts', description: 'Fix the login' } }];
}

const pages: Page[] = [
  {
    file: 'docs/workspaces.md',
    hosts: ['api.anthropic.com'],
    prepare: async (guide) => {
      const { carrel, project } = guide;
      await withClaude(guide, fixesLogin);
      project.put('src/login.ts', 'export const login = 1;\n');
      project.put('lib/form.ts', 'export const form = 1;\n');
      project.put('docs/login.md', 'Login.\n');
      project.put('package.json', '{"scripts": {"test": "true"}}\n');
      project.put('.gitignore', 'node_modules\n');
      project.git('init', '-q');
      project.git('add', '-A');
      project.git('commit', '-q', '-m', 'first');
      await carrel.ok('create', '--name', 'ada', project.path);
      await carrel.ok('create', '--name', 'bob', project.path);
      await changes(guide, 'ada');
      await carrel.ok('exec', 'bob', '--', 'sh', '-c', 'echo bob > bob.md');
      await carrel.ok('snapshot', 'ada');
      await carrel.run(['secret', 'set', 'KEY'], { input: 'sk-real' });
      await carrel.ok('credential', 'add', 'claude', '--preset', 'anthropic', '--secret', 'KEY');
    },
    ways: {
      "carrel apply ada src/login.ts 'lib/*.ts'": { before: (guide) => changes(guide, 'ada') },
      'carrel apply -p ada': {
        before: (guide) => changes(guide, 'ada'),
        types: [
          [/\[y,n,q/, 'a\r'],
          [/\[y,n,q[\s\S]*\[y,n,q/, 'q\r'],
        ],
      },
      'carrel diff ada@0001 ada -- src': { before: (guide) => changes(guide, 'ada') },
      'carrel apply ada --branch agent/ada -m "From ada"': {
        before: ({ project }) => project.git('commit', '-q', '-a', '-m', 'Take some of it'),
      },
      'carrel log ada': {
        before: async (guide) => {
          guide.project.git('commit', '-q', '-a', '--allow-empty', '-m', 'Take the rest');
          await guide.carrel.ok('rm', '--force', 'ada');
          await guide.ok('carrel create --name ada .');
          await guide.carrel.ok(
            'exec',
            'ada',
            '--',
            'sh',
            '-ec',
            'echo "// more" >> src/login.ts; git commit -q -a -m "Extend the login"',
          );
        },
        shows: /Extend the login/,
      },
      'carrel compare': { shows: /^login-3 +completed +1 +.1 -0 +pass /m },
      'carrel compare --take login-2': { shows: /lib\/form\.ts/ },
      'carrel apply ada --allow executable': {
        before: ({ carrel }) => carrel.ok('exec', 'ada', '--', 'sh', '-c', 'echo "npm start" > start; chmod +x start'),
      },
      'carrel merge ada bob': {
        before: async ({ carrel, project }) => {
          project.put('merged/base', 'one\n');
          await carrel.ok('exec', 'ada', '--', 'sh', '-c', 'echo ada > ada.md');
        },
      },
    },
  },
  {
    file: 'docs/swarm.md',
    hosts: ['api.anthropic.com', 'api.openai.com'],
    prepare: hasTasks,
    ways: {
      'carrel swarm run --all --agent claude': { shows: /^login completed 1\/1 /m },
      'carrel swarm logs login -f': { shows: /I did it\./ },
      'carrel swarm stop': { before: workOnAnotherStory },
      'carrel swarm resume': { shows: /^login completed 2\/2 /m },
      'carrel swarm resume login --agent codex': {
        before: async (guide) => {
          await workOnAnotherStory(guide);
          await guide.ok('carrel swarm stop');
        },
        shows: /^login completed 3\/3 /m,
      },
    },
  },
];

describe.each(pages)('$file', (page) => runsEachCommand(page));
