// @needs root
// @needs all
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { ctrlC, type Guide, type Page, runsEachCommand, yes } from './guide.ts';
import { sandboxHome } from './guide-services.ts';

const file = 'docs/cli.md';

/** Makes the sandbox change files in its working copy, each time anew. */
async function changes({ carrel }: Guide, name: string): Promise<void> {
  await carrel.ok(
    'exec',
    name,
    '--',
    'sh',
    '-c',
    `for file in src/login.ts docs/draft.md; do echo "// ${name}" >> $file; done`,
  );
}

const pages: Page[] = [
  {
    file,
    section: 'Sandboxes',
    hosts: ['registry.npmjs.org'],
    prepare: async ({ carrel, project }) => {
      project.put(
        'package.json',
        '{"scripts": {"test": "echo tested", "start": "echo started; exec sleep infinity"}}\n',
      );
      project.put('.env', 'CI=1\n');
      project.put('notes.txt', 'notes\n');
      project.put('report.pdf', 'report\n');
      await carrel.ok('volume', 'create', 'cache');
    },
    ways: {
      'carrel run -it -v cache:/cache -e CI=1 --network registry.npmjs.org . -- bash': {
        types: [[/[$#]\s*$/, 'exit\r']],
      },
      'carrel create --name web --env-file .env -p 3000 . -- npm start': {
        before: ({ carrel }) => carrel.ok('rm', '-f', 'web'),
      },
      'carrel rm $(carrel ls -q)': { before: ({ carrel }) => carrel.ok('stop', '--all') },
      'carrel show ada': {
        before: async (guide) => {
          await guide.ok("carrel create -t --name ada . -- sh -c 'echo ready; cat'");
          await guide.ok('carrel create --name web . -- npm start');
        },
      },
      'carrel exec -it web bash': { types: [[/[$#]\s*$/, 'exit\r']] },
      'carrel shell ada': { types: [[/[$#]\s*$/, 'exit\r']] },
      'carrel attach ada': { types: [[/ready/, '\x10\x11']] },
      'carrel logs -f -n 20 web': { types: [[/started/, ctrlC]], exitCode: 130 },
      'carrel wait ada': { before: ({ carrel }) => carrel.ok('stop', 'ada') },
      'carrel rm web': { before: ({ carrel }) => carrel.ok('stop', 'web') },
      'carrel rm --all': { before: ({ carrel }) => carrel.ok('stop', 'ada'), types: yes },
      'carrel cp notes.txt ada:/workspace/': { before: (guide) => guide.ok('carrel create --name ada .') },
    },
  },
  {
    file,
    section: 'Workspaces',
    prepare: async (guide) => {
      const { carrel, project } = guide;
      // A script replaces claude; the guide of workspaces runs the real one.
      const bin = join(await sandboxHome(guide), '.local/bin');
      mkdirSync(bin, { recursive: true });
      writeFileSync(join(bin, 'claude'), '#!/bin/sh\necho fixed > fixed.md\n', { mode: 0o755 });
      await carrel.run(['secret', 'set', 'KEY'], { input: 'x' });
      await carrel.ok('credential', 'add', 'claude', '--preset', 'anthropic', '--secret', 'KEY');
      project.put('package.json', '{"scripts": {"test": "true"}}\n');
      project.put('src/login.ts', 'export const login = 1;\n');
      project.put('docs/draft.md', 'Draft.\n');
      project.put('Makefile', 'check:\n\ttrue\n');
      project.git('init', '-q');
      project.git('add', '-A');
      project.git('commit', '-q', '-m', 'first');
      for (const name of ['agent', 'other', 'ada', 'bob']) await guide.ok(`carrel create --name ${name} .`);
      await changes(guide, 'agent');
      await carrel.ok('snapshot', 'agent');
      await changes(guide, 'agent');
    },
    ways: {
      'carrel apply -p agent': {
        before: (guide) => changes(guide, 'agent'),
        types: [
          [/\[y,n,q/, 'a\r'],
          [/\[y,n,q[\s\S]*\[y,n,q/, 'a\r'],
        ],
      },
      "carrel apply agent 'src/*.ts'": { before: (guide) => changes(guide, 'agent') },
      'carrel apply --branch try-1 agent': {
        before: async (guide) => {
          guide.project.git('commit', '-q', '-a', '-m', 'Take it');
          await changes(guide, 'agent');
        },
      },
      'carrel merge ada bob --dry-run': {
        before: async ({ carrel }) => {
          for (const name of ['ada', 'bob'])
            await carrel.ok('exec', name, '--', 'sh', '-c', `echo ${name} > ${name}.md`);
        },
      },
      'carrel discard ada docs/draft.md': {
        before: async (guide) => {
          await changes(guide, 'ada');
          await guide.carrel.ok('stop', 'ada');
        },
      },
      'carrel discard ada --yes': {
        before: async (guide) => {
          await guide.carrel.ok('start', 'ada');
          await changes(guide, 'ada');
          await guide.carrel.ok('stop', 'ada');
        },
      },
      'carrel patch ada > ada.patch': {
        before: async (guide) => {
          await guide.carrel.ok('start', 'ada');
          await changes(guide, 'ada');
        },
      },
      'carrel restore ada 0001': { before: ({ carrel }) => carrel.ok('stop', 'ada') },
      'carrel trust': {
        before: (guide) => {
          guide.carrel.folder('shop');
          for (const name of ['shop', 'project'])
            guide.carrel.write(`${name}/carrel.yaml`, 'name: shop\nsandboxes:\n  web: {network: [example.com]}\n');
        },
      },
    },
  },
];

describe.each(pages)('$section', (page) => runsEachCommand(page));
