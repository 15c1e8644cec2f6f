/** The agent API with opencode, an agent of other authors that speaks ACP, on a scripted model. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentApi } from '../fixtures/agent-api.ts';
import { ScriptedModel } from '../fixtures/scripted-model.ts';

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
      expect(api.said(id, turn)).toBe('I will.Done.');
      expect(readFileSync(join(api.places.cwd, 'made.txt'), 'utf8')).toBe('hi\n');
      const tools = api.log(id).flatMap((event) => (event.type === 'tool' ? [event.data.status] : []));
      expect([tools[0], tools.at(-1)]).toEqual(['pending', 'completed']);
      const next = await api.prompt(id, 'Once more.');
      expect(await api.ended(id, next)).toBe('end_turn');
      expect(api.said(id, next)).toBe('Again.');
    } finally {
      await api.dispose();
      await model.dispose();
    }
  });
});

/** Without a look for updates, models or language servers. */
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
