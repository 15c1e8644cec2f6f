/** The real claude, driven by a process of the agent API, with a model that answers as the test scripts it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sessionAgents } from '../../src/noun/agent/model/table.ts';
import { AgentApi } from '../fixtures/agent-api.ts';
import { type Question, ScriptedModel, type Turn } from '../fixtures/scripted-model.ts';

const command = [process.execPath, resolve('node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js')];

let api: AgentApi;
let model: ScriptedModel;

/** Calls a tool for a prompt that says so; otherwise it answers with text. */
function script({ messages }: Question): Turn {
  const last = JSON.stringify(messages.at(-1));
  if (last.includes('tool_result')) return [{ text: 'It is written.' }];
  if (!last.includes('Write a file')) return [{ text: 'Hello from the model.' }];
  return [{ tool: 'Bash', input: { command: 'echo written > made.txt', description: 'write' } }];
}

beforeEach(async () => {
  model = await ScriptedModel.open(script, { wants: { header: 'x-api-key', value: 'sk-real' } });
  api = new AgentApi(
    { ...sessionAgents.claude!, command },
    {
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${model.port}`,
      CLAUDE_CODE_EXECUTABLE: resolve('node_modules/@anthropic-ai/claude-code/cli.js'),
      DISABLE_TELEMETRY: '1',
      DISABLE_AUTOUPDATER: '1',
      IS_SANDBOX: '1',
      CLAUDE_CODE_MAX_RETRIES: '0',
    },
  );
  writeFileSync(join(api.paths.secrets, 'ANTHROPIC_API_KEY'), 'sk-real\n');
  await api.serve();
});
afterEach(async () => {
  await api.dispose();
  await model.dispose();
});

test('claude answers, asks before it runs a tool, and remembers the session after a kill', async () => {
  const id = await api.create();
  const first = await api.prompt(id, 'Good morning');
  expect([await api.ended(id, first), api.textOf(id, first)]).toEqual(['end_turn', 'Hello from the model.']);

  const second = await api.prompt(id, 'Write a file');
  const { pendingId, options } = (await api.event(id, 'question', second)).data;
  const allow = options?.find(({ kind }) => kind === 'allow_once');
  await api.client.post(`/sessions/${id}/pending/${pendingId}`, { optionId: allow?.id });
  expect([await api.ended(id, second), api.textOf(id, second)]).toEqual(['end_turn', 'It is written.']);
  expect(readFileSync(join(api.paths.cwd, 'made.txt'), 'utf8')).toBe('written\n');
  const tools = api.log(id).flatMap((one) => (one.type === 'tool' ? [one.data] : []));
  expect(tools.at(-1)).toMatchObject({ status: 'completed' });

  await api.kill();
  await api.serve();
  const third = await api.prompt(id, 'Good evening');
  expect(await api.ended(id, third)).toBe('end_turn');
  expect(JSON.stringify(model.questions.at(-1)?.messages)).toContain('Good morning');
});
