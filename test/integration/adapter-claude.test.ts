/** The real claude, driven by the adapter, with a model that answers as the test scripts it. */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AgentSpec } from '../../src/noun/agent/model/agent.ts';
import { type Question, ScriptedModel, type Turn } from '../fixtures/scripted-model.ts';
import { AdapterBench } from '../harness/adapter.ts';

const key = { variable: 'ANTHROPIC_API_KEY', secret: 'ANTHROPIC_API_KEY' };
const claude: AgentSpec = {
  kind: 'claude',
  command: [process.execPath, resolve('node_modules/@anthropic-ai/claude-code/cli.js')],
  key,
};

let bench: AdapterBench;
let model: ScriptedModel;

beforeEach(() => {
  bench = new AdapterBench({ a: 'a\n' });
});
afterEach(async () => {
  await bench.dispose();
  await model.dispose();
});

/** Which story a conversation is about. */
function storyIn({ messages }: Question): string {
  return /US-\d{3}/.exec(JSON.stringify(messages))?.[0] ?? '';
}

function env(): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${model.port}`,
    HOME: bench.folder,
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    IS_SANDBOX: '1',
    CLAUDE_CODE_MAX_RETRIES: '0',
  };
}

const writes = (question: Question, said: number): Turn => {
  const id = storyIn(question);
  if (said > 0) return [{ text: `I wrote ${id}.` }];
  return [
    { text: 'On it.' },
    { tool: 'Bash', input: { command: `env > env.txt; echo done > ${id}.txt`, description: 'write' } },
  ];
};

it('claude works with the key of a secret, which is in no environment', async () => {
  model = await ScriptedModel.open(writes, { wants: { header: 'x-api-key', value: 'sk-real' } });
  writeFileSync(join(bench.folder, 'secrets/ANTHROPIC_API_KEY'), 'sk-real\n');
  bench.plan([{ does: 'Write one.' }]);
  const run = await bench.complete({ agent: claude }, env());
  expect([run.errors, run.completion?.status]).toEqual([[], 'completed']);
  expect(bench.outcome.stories['US-001']?.output).toBe('I wrote US-001.');
  expect(bench.show('env.txt')).not.toContain('sk-real');
  expect(JSON.stringify(model.questions[0]?.messages)).toContain('Write one.');
});

it('claude works with the token of an account from a secret', async () => {
  const login = { variable: 'CLAUDE_CODE_OAUTH_TOKEN', secret: 'CLAUDE_CODE_OAUTH_TOKEN' };
  model = await ScriptedModel.open(writes, { wants: { header: 'authorization', value: 'Bearer sk-ant-oat01-real' } });
  writeFileSync(join(bench.folder, 'secrets', login.secret), 'sk-ant-oat01-real\n');
  bench.plan([{ does: 'Write one.' }]);
  const run = await bench.complete({ agent: { ...claude, key: login } }, env());
  expect([run.errors, run.completion?.status]).toEqual([[], 'completed']);
  const [asked] = model.requests.filter(({ question }) => question !== null);
  expect(asked!.headers['anthropic-beta']).toContain('oauth');
});

it('a story fails with the reason if the model refuses the key of claude', async () => {
  model = await ScriptedModel.open([[{ text: 'no' }]], { wants: { header: 'x-api-key', value: 'other' } });
  bench.plan([{ does: 'Write one.' }]);
  const run = await bench.complete({ agent: claude }, { ...env(), ANTHROPIC_API_KEY: 'sk-real' });
  expect(run.completion).toMatchObject({ status: 'failed', errors: [expect.stringContaining('Invalid API key')] });
  expect(bench.landed).toEqual([]);
});
