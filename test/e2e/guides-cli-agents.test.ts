// @needs root
// @needs all
/** The examples of docs/cli.md about agents and sessions as they stand there. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { NpmRegistry } from '../fixtures/npm-registry.ts';
import { ctrlC, detach, type Guide, type Page, runsEachCommand, type Way } from './guide.ts';
import { authority, withClaude } from './guide-services.ts';
import { askAndLeave, asked } from './guide-session.ts';

const file = 'docs/cli.md';

const agents = ['claude', 'codex', 'gemini', 'opencode', 'copilot', 'qwen'];

let published: NpmRegistry | null = null;

/** Replaces the registry with one that has only this package. */
function publishes(name: string, program: string, version: string) {
  return async (guide: Guide): Promise<void> => {
    await published?.dispose();
    const at = await guide.machine.listen(443, 'registry.npmjs.org');
    published = await NpmRegistry.open(authority.tls('registry.npmjs.org'), { name, program, version }, at);
  };
}

const pages: Page[] = [
  {
    file,
    section: 'Agents',
    hosts: ['registry.npmjs.org'],
    prepare: async (guide) => {
      guide.carrel.folder('bin');
      for (const name of agents) {
        const script = `#!/bin/sh\necho ${name} is at work\nexec sleep infinity\n`;
        writeFileSync(join(guide.home, 'bin', name), script, { mode: 0o755 });
      }
      guide.variables.PATH = join(guide.home, 'bin');
      guide.carrel.folder('.claude');
      const login = { accessToken: 'sk-ant-oat01-real', refreshToken: 'r', expiresAt: 4_000_000_000_000 };
      guide.carrel.write('.claude/.credentials.json', JSON.stringify({ claudeAiOauth: login }));
      guide.carrel.write('ca.pem', authority.certificate);
      guide.configure({ authorities: [join(guide.home, 'ca.pem')] });
      await guide.carrel.run(['secret', 'set', 'NPM_TOKEN'], { input: 'x' });
      await guide.carrel.ok('credential', 'add', 'npm', '--preset', 'npm', '--secret', 'NPM_TOKEN');
      for (const name of ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GEMINI_API_KEY', 'COPILOT_GITHUB_TOKEN'])
        await guide.carrel.run(['secret', 'set', name], { input: 'x' });
    },
    ways: {
      'carrel agent install claude': { before: publishes('@anthropic-ai/claude-code', 'claude', '2.0.0') },
      'carrel agent install codex 0.166.0': { before: publishes('@openai/codex', 'codex', '0.166.0') },
      ...Object.fromEntries(
        agents.flatMap((name) =>
          ['carrel agent', 'carrel'].flatMap((word) =>
            ['.', '. --new --network npm,github'].map((rest) => [
              `${word} ${name} ${rest}`,
              { types: [[new RegExp(`${name} is at work`), detach]] } satisfies Way,
            ]),
          ),
        ),
      ),
    },
  },
  {
    file,
    section: 'Sessions',
    hosts: ['api.anthropic.com'],
    prepare: async (guide) => {
      await withClaude(guide);
      await guide.carrel.run(['secret', 'set', 'ANTHROPIC_API_KEY'], { input: 'sk-real' });
      guide.project.put('prompt.txt', 'list files\n');
    },
    ways: {
      'carrel chat .': askAndLeave('How is it?', /It is well/),
      'carrel chat . --agent demo': askAndLeave('list files', /README\.md/),
      'carrel chat web --new': {
        before: (guide) => guide.ok('carrel create --name web --credential anthropic .'),
        ...askAndLeave('How is it?', /It is well/),
      },
      'carrel session ls ada --all': {
        before: async (guide) => {
          await guide.ok('carrel create --name ada .');
          await guide.ok('carrel session send ada --agent demo --wait list files');
        },
      },
      'carrel session send web --wait run the tests': { shows: /It is well/ },
      'carrel session follow ada': { types: [[/README/, ctrlC]], exitCode: 130 },
      'carrel session answer web y': { before: asked('write notes: made') },
      'carrel session answer web the blue one': { before: asked('ask Which one?: the red one, the blue one') },
      'carrel session cancel ada': { before: (guide) => guide.ok('carrel session send ada wait 1000') },
      'carrel session rm ada --session 3f2a': { exitCode: 5 },
    },
  },
];

describe.each(pages)('$section', (page) => runsEachCommand(page));
