// @needs root
// @needs all
/** The examples of docs/cli.md about swarms as they stand there; the model is scripted. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { type Guide, type Page, runsEachCommand } from './guide.ts';
import { addStory, hasTasks, putTasks, workOnAnotherStory } from './guide-swarm.ts';

const file = 'docs/cli.md';

/** Gives the project a remote, and a fake `gh` that prints the address of a pull request. */
function pretendGitHub({ carrel, home, project, variables }: Guide): void {
  project.git('init', '-q', '--bare', join(home, 'remote.git'));
  project.git('remote', 'add', 'origin', join(home, 'remote.git'));
  carrel.folder('bin');
  writeFileSync(join(home, 'bin/gh'), '#!/bin/sh\necho https://github.com/acme/shop/pull/1\n', { mode: 0o755 });
  variables.PATH = join(home, 'bin');
}

const pages: Page[] = [
  {
    file,
    section: 'Swarms',
    hosts: ['api.anthropic.com', 'api.openai.com'],
    prepare: async (guide) => {
      await hasTasks(guide);
      await guide.ok('carrel secret set ANTHROPIC_API_KEY < key');
    },
    ways: {
      'carrel swarm run --all --agent claude': { shows: /^login completed 1\/1 /m },
      'carrel swarm run --file .carrel/tasks/2026-01-31-login-tasks.json --max 2 --pr': {
        before: async (guide) => {
          await guide.carrel.ok('swarm', 'clean', '--project', guide.project.path);
          addStory(guide);
          pretendGitHub(guide);
        },
        shows: /^login completed 2\/2 /m,
      },
      'carrel swarm resume': {
        before: async (guide) => {
          await workOnAnotherStory(guide);
          await guide.ok('carrel swarm stop');
        },
        shows: /^login completed 3\/3 /m,
      },
      'carrel swarm resume login --agent codex': {
        before: async (guide) => {
          await workOnAnotherStory(guide);
          await guide.ok('carrel swarm stop');
        },
        shows: /^login completed 4\/4 /m,
      },
      'carrel swarm update login --status running': {
        leftOut: 'no engine has a container with the id of the example; swarm-dockerd.test.ts updates a real one',
      },
      'carrel swarm stop login': { before: workOnAnotherStory },
      'carrel task mark .carrel/tasks/2026-01-31-login-tasks.json US-002 completed --notes "by hand"': {
        before: (guide) => {
          putTasks(guide);
          addStory(guide);
          addStory(guide);
          return guide.ok('carrel task mark .carrel/tasks/2026-01-31-login-tasks.json US-002 in_progress');
        },
      },
    },
  },
];

describe.each(pages)('$section', (page) => runsEachCommand(page));
