// @needs root
// @needs all
/** The examples of docs/cli.md as they stand there, which are those of the help texts. */
import { chmodSync } from 'node:fs';
import { describe } from 'vitest';
import { until } from '../harness/installation.ts';
import type { Terminal } from '../harness/terminal.ts';
import { ctrlC, type Guide, type Page, runsEachCommand, type Way } from './guide.ts';

const file = 'docs/cli.md';

/** Repeats the act until the terminal shows it: the command starts to follow at an unknown time. */
function follows(act: (guide: Guide) => Promise<unknown>, shown: RegExp): Way {
  const seen = (guide: Guide, terminal: Terminal) =>
    until(async () => {
      await act(guide);
      return shown.test(terminal.text);
    }, `${shown} on a terminal`);
  return {
    types: [
      [/^/, seen],
      [/^/, ctrlC],
    ],
    exitCode: 130,
  };
}

const noSuchId: Way = { exitCode: 5 };

const pages: Page[] = [
  {
    file,
    section: 'Daemon',
    prepare: async ({ project, carrel }) => {
      project.put('carrel.yaml', 'name: shop\nsandboxes:\n  web: {}\n');
      await carrel.ok('room', 'create', 'plans');
    },
    ways: {
      'carrel up --port 7070': { before: ({ carrel }) => carrel.ok('down') },
      'carrel events --follow': follows(({ carrel }) => carrel.ok('room', 'post', 'plans', 'x'), /room/),
      'carrel audit --follow --after 100': {
        before: async ({ carrel: { client } }) => {
          const body = { name: 'KEY', valueBase64: 'eA==' };
          for (let count = 0; count <= 100; count += 1) await client.call('POST /v1/secrets', { body });
        },
        types: [[/secret\.set/, ctrlC]],
        exitCode: 130,
      },
    },
  },
  {
    file,
    section: 'Shares',
    prepare: async ({ carrel }) => {
      carrel.folder('data');
      await carrel.ok('create', '--name', 'ada');
    },
    ways: {
      'carrel share render data --for compose': {
        before: (guide) => guide.ok('carrel share add data ~/data --at docker:web=/data'),
      },
      'carrel share revoke data sandbox:ada': {
        before: (guide) => guide.ok('carrel share add data ~/data --at sandbox:ada=/data'),
      },
    },
  },
  {
    file,
    section: 'Network',
    hosts: ['example.com', 'registry.npmjs.org', 'github.com'],
    prepare: async ({ carrel, project }) => {
      project.put('package.json', '{"name": "shop", "version": "1.0.0"}\n');
      project.put(
        'package-lock.json',
        '{"name": "shop", "version": "1.0.0", "lockfileVersion": 3, "packages": {"": {"name": "shop", "version": "1.0.0"}}}\n',
      );
      for (const name of ['ada', 'agent', 'web']) await carrel.ok('create', '--name', name, '--network', 'github.com');
      for (const name of ['ANTHROPIC_API_KEY', 'GATEWAY_KEY'])
        await carrel.run(['secret', 'set', name], { input: 'x' });
    },
    ways: {
      'carrel net follow': { ...follows(asksFrom('agent'), /example\.com/), exitCode: 0 },
      'carrel net follow agent': { ...follows(asksFrom('agent'), /example\.com/), exitCode: 0 },
      'carrel net log ada --follow': follows(asksFrom('ada'), /example\.com/),
    },
  },
  {
    file,
    section: 'Hub',
    prepare: ({ carrel }) => {
      carrel.folder('shop');
      carrel.write('shop/README.md', 'A shop.\n');
    },
    ways: {
      'carrel hub token --project shop --tools files,code --expires 30d': {
        before: (guide) => guide.ok('carrel project add ~/shop'),
      },
    },
  },
  {
    file,
    section: 'Rooms',
    prepare: ({ project }) => {
      project.put('report.pdf', 'A report.\n');
      project.put('send-sms', '#!/bin/sh\n');
      chmodSync(project.at('send-sms'), 0o755);
    },
    ways: {
      'carrel room create plans --keep-days 30': { before: ({ carrel }) => carrel.ok('room', 'rm', 'plans') },
      'carrel room watch plans ada --wake': {
        before: ({ carrel }) => carrel.ok('create', '--name', 'ada', '--room', 'plans'),
      },
      'carrel room rm plans': { before: ({ carrel }) => carrel.ok('rm', '--force', 'ada') },
      'carrel room follow plans': follows(({ carrel }) => carrel.ok('room', 'post', 'plans', 'news'), /news/),
    },
  },
  {
    file,
    section: 'Memory',
    prepare: ({ project }) => {
      project.put('notes.ndjson', '');
    },
    ways: {
      'carrel memory get 01JD8Q4Z7W3V5T1N9R2B6C8D0E': noSuchId,
      'carrel memory rm 01JD8Q4Z7W3V5T1N9R2B6C8D0E': noSuchId,
      'carrel memory bank restore shop/decisions.md 3': {
        before: async ({ carrel }) => {
          await carrel.ok('create', '--name', 'ada', '--memory-bank');
          for (let version = 1; version <= 4; version += 1) {
            const write = `mkdir -p /data/memory-bank/shop; echo ${version} > /data/memory-bank/shop/decisions.md`;
            await carrel.ok('exec', 'ada', '--', 'sh', '-c', write);
            const isKept = async () =>
              (await carrel.ok('memory', 'bank', 'log', 'shop/decisions.md')).includes(`  ${version}  `);
            await until(isKept, `version ${version}`);
          }
        },
      },
      'carrel memory install': { leftOut: 'it installs a server from the registry of npm' },
      'carrel memory install embeddings': { leftOut: 'it installs a model from the Internet' },
    },
  },
  {
    file,
    section: 'MCP servers of agents',
    prepare: ({ carrel }) => carrel.ok('create', '--name', 'project-claude', '--memory-scope', 'user'),
  },
  {
    file,
    section: 'Getting started',
    ways: { 'carrel demo': { leftOut: 'demo.test.ts runs it' } },
  },
];

function asksFrom(name: string) {
  return ({ carrel }: Guide) => carrel.run(['exec', name, '--', 'curl', '-s', 'https://example.com']);
}

describe.each(pages)('$section', (page) => runsEachCommand(page));
