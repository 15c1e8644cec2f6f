/** The services that agents of the guides use, and how these agents are installed. */
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Question, ScriptedModel, type Turn } from '../fixtures/scripted-model.ts';
import { TestAuthority } from '../fixtures/service.ts';
import { TextModel } from '../fixtures/text-model.ts';
import type { Guide } from './guide.ts';

export const authority = new TestAuthority(
  'api.anthropic.com',
  'registry.npmjs.org',
  'gateway.example.com',
  'api.openai.com',
);

const modules = '.local/lib/node_modules';
/** The files of claude's packages that it needs to run. */
const claudeFiles = [
  '@anthropic-ai/claude-code/cli.js',
  '@anthropic-ai/claude-code/package.json',
  '@anthropic-ai/claude-agent-sdk/package.json',
  '@anthropic-ai/claude-agent-sdk/sdk.mjs',
  '@agentclientprotocol/claude-agent-acp',
  'zod',
];

/** Installs claude in the home of all sandboxes, and starts a model that answers it. */
export async function withClaude(
  guide: Guide,
  turn: (question: Question, said: number) => Turn = () => [{ text: 'It is well.' }],
  settings: object = {},
): Promise<void> {
  guide.carrel.write('ca.pem', authority.certificate);
  guide.configure({ authorities: [join(guide.home, 'ca.pem')], ...settings });
  const model = await ScriptedModel.open(turn, {
    tls: authority.tls('api.anthropic.com'),
    at: await guide.machine.listen(443, 'api.anthropic.com'),
  });
  guide.onEnd(() => model.dispose());
  const home = await sandboxHome(guide);
  for (const name of claudeFiles) cpSync(resolve('node_modules', name), join(home, modules, name), { recursive: true });
  mkdirSync(join(home, '.local/bin'));
  for (const [name, file] of [
    ['claude', claudeFiles[0]],
    ['claude-agent-acp', '@agentclientprotocol/claude-agent-acp/dist/index.js'],
  ]) {
    const script = `#!/bin/sh\nexport CLAUDE_CODE_EXECUTABLE=~/${modules}/${claudeFiles[0]}\nexec node ~/${modules}/${file} "$@"\n`;
    writeFileSync(join(home, '.local/bin', name!), script, { mode: 0o755 });
  }
}

/** The lower layer of the home of each sandbox. */
export async function sandboxHome({ carrel }: Guide): Promise<string> {
  await carrel.ok('volume', 'init');
  const volumes = join(carrel.home, 'volumes');
  return join(volumes, readdirSync(volumes).find((name) => name.startsWith('carrel-home-'))!);
}

/** Starts a model with the API of OpenAI at this host. */
export async function answersAs(guide: Guide, host: string): Promise<void> {
  const model = await TextModel.open('It is well.', {
    tls: authority.tls(host),
    at: await guide.machine.listen(443, host),
    wants: { header: 'authorization', value: 'Bearer sk-real' },
  });
  guide.onEnd(() => model.dispose());
}
