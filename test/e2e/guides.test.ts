// @needs root
// @takes 25 s
/** The commands of guides as they stand there; files beside this one have those about agents, their work and Docker. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { until } from '../harness/installation.ts';
import { commandsOf, ctrlC, type Page, runsEachCommand, yes } from './guide.ts';

const pages: Page[] = [
  {
    file: 'docs/api.md',
    prepare: ({ carrel }) => carrel.ok('up', '-d'),
    ways: {
      'curl -s --unix-socket ~/.carrel/carrel.sock http://carrel/openapi.json': { shows: /"openapi":/ },
    },
  },
  {
    file: 'docs/sandbox.md',
    ways: {
      'carrel shell box': { types: [[/[$#]\s*$/, 'exit\r']] },
      'carrel rm --all': {
        before: ({ carrel }) => carrel.ok('run', '--name', 'done', '--', 'true'),
        types: yes,
      },
    },
  },
  {
    file: 'docs/users.md',
    prepare: ({ variables }) => {
      variables.TOKEN = 'a-token';
    },
    ways: {
      'carrel --user bob volume clean --no-backup memory-bank': {
        before: ({ carrel }) => carrel.ok('--user', 'bob', 'volume', 'init'),
        types: yes,
      },
      'carrel down': {
        before: ({ carrel, home }) => carrel.write('.carrel/config.yaml', `share: { socket: ${home}/shared.sock }\n`),
      },
    },
  },
  {
    file: 'docs/rooms.md',
    prepare: ({ project }) => {
      project.git('init', '-q');
      project.git('commit', '-q', '--allow-empty', '-m', 'Repair the parser');
    },
    ways: {
      'carrel room read plans --after "$ID"': {
        before: async (guide) => {
          guide.variables.ID = await guide.ok('carrel room post plans first');
          await guide.ok('carrel room post plans second');
        },
        shows: /second/,
      },
      'carrel room follow plans': {
        types: [
          [
            /^/,
            ({ carrel }, terminal) =>
              until(async () => {
                await carrel.ok('room', 'post', 'plans', 'news');
                return /news/.test(terminal.text);
              }, 'the news'),
          ],
          [/news/, ctrlC],
        ],
        exitCode: 130,
      },
      'carrel room watch plans reviewer --wake': {
        before: async ({ carrel }) => {
          for (const name of ['reviewer', 'tester']) await carrel.ok('create', '--name', name, '--room', 'plans');
          await carrel.run(['secret', 'set', 'desk-key'], { input: 'x' });
        },
      },
    },
  },
  {
    file: 'docs/troubleshooting.md',
    prepare: async ({ carrel, variables, home, project }) => {
      variables.npm_config_prefix = home;
      await carrel.ok('create', '--name', 'ada', project.path);
      await carrel.ok('exec', 'ada', '--', 'sh', '-c', 'echo more >> README.md');
      await carrel.ok('volume', 'create', 'cache');
    },
    ways: { 'carrel rm --all --force': { types: yes } },
  },
  {
    file: 'docs/hub.md',
    prepare: async ({ carrel }) => {
      for (const name of ['shop', 'store']) {
        carrel.folder(name);
        carrel.write(`${name}/README.md`, `A ${name}.\n`);
      }
    },
    ways: {
      'carrel up -d --port 3000': { before: ({ carrel }) => carrel.ok('down') },
      'carrel status': { shows: /127\.0\.0\.1:3000/ },
      'carrel hub call read_file \'{"project":"shop","path":"README.md"}\'': { shows: /A shop\./ },
    },
  },
];

/** Files whose commands no test runs, with the reason. */
const notRun: Readonly<Record<string, string>> = { 'CONTRIBUTING.md': 'it builds and tests this checkout' };

it('a test runs the commands of each page, and of each section of docs/cli.md', () => {
  const guides = readdirSync('docs').map((name) => `docs/${name}`);
  const pages = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'ARCHITECTURE.md', 'SCOPE.md', ...guides].filter(
    (file) => file.endsWith('.md') && commandsOf(file).length > 0,
  );
  const titles = [...readFileSync('docs/cli.md', 'utf8').matchAll(/^## (.*)$/gm)].map(([, title]) => title!);
  const sections = titles.filter((title) => commandsOf('docs/cli.md', title).length > 0);
  const tests = readdirSync('test/e2e').filter((name) => /^(guides|readme).*\.test\.ts$/.test(name));
  const code = tests.map((name) => readFileSync(`test/e2e/${name}`, 'utf8')).join();
  const isRun = (file: string) => new RegExp(`(file:|file =|\\[) ?'${file}'`).test(code);
  expect(pages.filter((file) => !isRun(file))).toEqual(Object.keys(notRun));
  expect(sections.filter((title) => !code.includes(`section: '${title}'`))).toEqual([]);
});

describe.each(pages)('$file', (page) => runsEachCommand(page));
