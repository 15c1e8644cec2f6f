// @needs root
// @takes 35 s
/** The commands of the guides about agents and their network as they stand there; the models are scripted. */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe } from 'vitest';
import { NpmRegistry } from '../fixtures/npm-registry.ts';
import { until } from '../harness/installation.ts';
import { ctrlC, detach, type Page, runsEachCommand } from './guide.ts';
import { answersAs, authority, sandboxHome, withClaude } from './guide-services.ts';
import { askAndLeave, asked } from './guide-session.ts';

const pages: Page[] = [
  {
    file: 'docs/agents.md',
    hosts: ['api.anthropic.com', 'api.openai.com'],
    prepare: async (guide) => {
      await withClaude(guide);
      await answersAs(guide, 'api.openai.com');
      for (const name of ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY'])
        await guide.carrel.run(['secret', 'set', name], { input: 'sk-real' });
    },
    ways: {
      'carrel claude .': { types: [[/bypass permissions on/, detach]] },
      'carrel claude . --new': { types: [[/bypass permissions on/, detach]] },
      'carrel codex . -- --model gpt-5': { types: [[/OpenAI Codex/, detach]] },
      'carrel attach project-claude': { types: [[/bypass permissions on/, detach]] },
      'carrel diff project-claude': {
        before: ({ carrel }) => carrel.ok('exec', '-T', 'project-claude', '--', 'sh', '-c', 'echo more >> README.md'),
        shows: /\+more/,
      },
    },
  },
  {
    file: 'docs/sessions.md',
    hosts: ['api.anthropic.com'],
    prepare: async (guide) => {
      await withClaude(guide);
      await guide.carrel.run(['secret', 'set', 'ANTHROPIC_API_KEY'], { input: 'sk-real' });
    },
    ways: {
      'carrel chat .': askAndLeave('How is it?', /It is well/),
      'carrel chat . --agent demo': askAndLeave('list files', /README\.md/),
      'carrel chat web': {
        before: ({ carrel, project }) =>
          carrel.ok('create', '--name', 'web', '--credential', 'anthropic', project.path),
        ...askAndLeave('How is it?', /It is well/),
      },
      'carrel session send web --wait run the tests': { shows: /It is well/ },
      'carrel session follow web': { types: [[/It is well/, ctrlC]], exitCode: 130 },
      'carrel session answer web y': {
        before: asked('write notes: made'),
      },
      'carrel session cancel web': { before: (guide) => guide.ok('carrel session send web wait 1000') },
      'carrel session token web rm "$ID"': {
        before: async (guide) => {
          const [{ id }] = (await guide.carrel.json<{ id: string }[]>('session', 'token', 'web', 'ls')) as [
            { id: string },
          ];
          guide.variables.ID = id;
        },
      },
      'curl -H "Authorization: Bearer $TOKEN" http://127.0.0.1:3002/sessions': {
        before: async (guide) => {
          guide.variables.TOKEN = await guide.ok('carrel session token web 2>/dev/null');
          const sessions = await guide.carrel.json<{ sessionId: string }[]>('session', 'ls');
          guide.variables.ID = sessions.at(-1)!.sessionId;
        },
        shows: /sessionId/,
      },
      'curl -H "Authorization: Bearer $TOKEN" -N "http://127.0.0.1:3002/sessions/$ID/events?after=0"': {
        types: [[/data:/, ctrlC]],
        exitCode: 130,
      },
    },
  },
  {
    file: 'docs/network.md',
    hosts: ['api.anthropic.com', 'registry.npmjs.org', 'gateway.example.com', 'example.com'],
    prepare: async (guide) => {
      const { carrel, home, machine } = guide;
      await withClaude(guide, undefined, { services: { notes: { port: 17010, to: join(home, 'notes.sock') } } });
      const notes = createServer((_, response) => response.end('a note\n')).listen(join(home, 'notes.sock'));
      guide.onEnd(() => notes.close());
      const leftPad = { name: 'left-pad', program: 'left-pad', version: '1.3.0' };
      const registry = await NpmRegistry.open(
        authority.tls('registry.npmjs.org'),
        leftPad,
        await machine.listen(443, 'registry.npmjs.org'),
      );
      guide.onEnd(() => registry.dispose());
      const inside = await sandboxHome(guide);
      writeFileSync(join(inside, 'ca.pem'), authority.certificate);
      writeFileSync(join(inside, '.npmrc'), 'cafile=/home/agent/ca.pem\n');
      await answersAs(guide, 'gateway.example.com');
      guide.variables.TOKEN = 'sk-real';
      await carrel.run(['secret', 'set', 'GATEWAY_KEY'], { input: 'sk-real' });
      await carrel.ok('create', '--name', 'web', '--network', 'registry.npmjs.org');
    },
    ways: {
      'carrel net follow': {
        types: [
          [
            /^/,
            ({ carrel }, terminal) =>
              until(async () => {
                await carrel.run(['exec', 'web', '--', 'curl', '-s', 'https://example.com']);
                return /example\.com/.test(terminal.text);
              }, 'the refused host'),
          ],
          [/example/, 'a'],
          [/allowed example\.com:443 for web/, 'q'],
        ],
      },
      'carrel run --credential claude -- claude -p hello': { shows: /It is well/ },
      'carrel codex . --network npm': { types: [[/OpenAI Codex/, detach]] },
      'carrel run --service notes -- curl -s http://127.0.0.1:17010/': { shows: /a note/ },
    },
  },
];

describe.each(pages)('$file', (page) => runsEachCommand(page));
