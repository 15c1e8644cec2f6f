/** The agent API with opencode and gemini, agents of other authors that speak ACP, on a scripted model. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentApi } from '../fixtures/agent-api.ts';
import { ScriptedGemini } from '../fixtures/scripted-gemini.ts';
import { ScriptedModel } from '../fixtures/scripted-model.ts';
import { isRepeated } from '../harness/machine.ts';

const program = ['x64-baseline', 'arm64']
  .map((name) => resolve(`test/clients/node_modules/opencode-linux-${name}/bin/opencode`))
  .find((path) => existsSync(path));
if (program === undefined) console.log('skipped: opencode is not installed; run ./setup');

describe.runIf(program !== undefined)('opencode', () => {
  it('answers, runs a tool and goes on with the same conversation', { timeout: 120_000 }, async () => {
    const run = { tool: 'bash', input: { command: 'echo hi > made.txt', description: 'Write a file' } };
    const model = await ScriptedModel.open([[{ text: 'I will.' }, run], [{ text: 'Done.' }], [{ text: 'Again.' }]]);
    const api = new AgentApi({ kind: 'acp', command: [program!, 'acp'] }, environment(model.port));
    try {
      await api.serve();
      const id = await api.create();
      const turn = await api.prompt(id, 'Write a file.');
      expect(await api.ended(id, turn)).toBe('end_turn');
      expect(api.textOf(id, turn)).toBe('I will.Done.');
      expect(readFileSync(join(api.paths.cwd, 'made.txt'), 'utf8')).toBe('hi\n');
      const tools = api.log(id).flatMap((event) => (event.type === 'tool' ? [event.data.status] : []));
      expect([tools[0], tools.at(-1)]).toEqual(['pending', 'completed']);
      const next = await api.prompt(id, 'Once more.');
      expect(await api.ended(id, next)).toBe('end_turn');
      expect(api.textOf(id, next)).toBe('Again.');
    } finally {
      await api.dispose();
      await model.dispose();
    }
  });
});

/** Turns off the search for updates, models and language servers. */
function environment(port: number): Record<string, string> {
  const name = 'anthropic/claude-sonnet-4-5';
  const config = {
    ...{ model: name, small_model: name, autoupdate: false, share: 'disabled', enabled_providers: ['anthropic'] },
    provider: { anthropic: { options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'none' } } },
  };
  return {
    ...{ OPENCODE_CONFIG_CONTENT: JSON.stringify(config), OPENCODE_DISABLE_MODELS_FETCH: '1' },
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  };
}

const gemini = resolve('test/clients/node_modules/@google/gemini-cli/bundle/gemini.js');
if (!existsSync(gemini)) console.log('skipped: gemini is not installed; run ./setup');

if (isRepeated)
  describe.runIf(existsSync(gemini))('gemini', () => {
    it('answers, and asks before it writes a file', { timeout: 120_000 }, async () => {
      const model = await ScriptedGemini.open([
        { text: 'Hello.' },
        { functionCall: { name: 'write_file', args: { file_path: 'made.txt', content: 'hi\n' } } },
        { text: 'It is written.' },
      ]);
      const command = [process.execPath, gemini, '--acp', '--model', 'gemini-2.5-flash'];
      const api = new AgentApi({ kind: 'acp', command }, geminiEnvironment(model.port));
      mkdirSync(join(api.root, '.gemini'));
      writeFileSync(join(api.root, '.gemini/settings.json'), JSON.stringify(geminiSettings));
      try {
        await api.serve();
        const id = await api.create();
        const first = await api.prompt(id, 'Good morning.');
        expect([await api.ended(id, first), api.textOf(id, first)]).toEqual(['end_turn', 'Hello.']);
        const second = await api.prompt(id, 'Write a file.');
        const { pendingId, options } = (await api.event(id, 'question', second)).data;
        expect(existsSync(join(api.paths.cwd, 'made.txt'))).toBe(false);
        const allow = options?.find(({ kind }) => kind === 'allow_once');
        await api.client.post(`/sessions/${id}/pending/${pendingId}`, { optionId: allow?.id });
        expect([await api.ended(id, second), api.textOf(id, second)]).toEqual(['end_turn', 'It is written.']);
        expect(readFileSync(join(api.paths.cwd, 'made.txt'), 'utf8')).toBe('hi\n');
      } finally {
        await api.dispose();
        await model.dispose();
      }
    });
  });

/** Turns off the question for an account, updates and reports. */
const geminiSettings = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { disableAutoUpdate: true },
  privacy: { usageStatisticsEnabled: false },
};

function geminiEnvironment(port: number): Record<string, string> {
  return { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}`, NO_BROWSER: '1' };
}
