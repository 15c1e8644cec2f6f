import { afterEach, expect, it } from 'vitest';
import { type ModelOptions, type Script, ScriptedModel } from './fixtures/scripted-model.ts';

let model: ScriptedModel;

afterEach(() => model.dispose());

const tools = [{ name: 'Bash' }];
const ask = { model: 'any', max_tokens: 10, tools, messages: [{ role: 'user', content: 'go' }] };
const answered = { ...ask, messages: [...ask.messages, { role: 'assistant', content: 'x' }, ...ask.messages] };

async function open(script: Script, options?: ModelOptions): Promise<void> {
  model = await ScriptedModel.open(script, options);
}

function post(body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${model.port}/v1/messages`, { method: 'POST', body: JSON.stringify(body), headers });
}

it('the scripted model answers with the turn that the conversation has reached, and with ok to a request without tools', async () => {
  await open([[{ tool: 'Bash', input: { command: 'ls' } }], [{ text: 'done' }]]);
  const answers = await Promise.all(
    [answered, ask, { ...ask, tools: [] }].map(async (body) => (await post(body)).json()),
  );
  expect(answers).toMatchObject([
    { content: [{ type: 'text', text: 'done' }], stop_reason: 'end_turn' },
    { content: [{ type: 'tool_use', name: 'Bash', input: { command: 'ls' } }], stop_reason: 'tool_use' },
    { content: [{ type: 'text', text: 'ok' }] },
  ]);
  expect(model.questions).toHaveLength(3);
});

it('the scripted model streams blocks in pieces that add up to the whole', async () => {
  const said = 'a text — longer than one piece 👋 of it';
  await open(() => [{ text: said }, { tool: 'Write', input: { content: said } }]);
  const lines = (await (await post({ ...ask, stream: true })).text())
    .split('\n')
    .filter((line) => line.startsWith('data:'));
  const events = lines.map((line) => JSON.parse(line.slice(5)));
  const deltas = events.filter(({ type }) => type === 'content_block_delta').map(({ delta }) => delta);
  expect(deltas.map(({ text }) => text ?? '').join('')).toBe(said);
  expect(JSON.parse(deltas.map(({ partial_json }) => partial_json ?? '').join(''))).toEqual({ content: said });
  expect(events.at(0).type).toBe('message_start');
  expect(events.at(-1).type).toBe('message_stop');
});

it('the scripted model refuses a request without the key, and keeps all requests', async () => {
  await open([[{ text: 'hi' }]], { wants: { header: 'x-api-key', value: 'real' } });
  expect((await post(ask, { 'x-api-key': 'placeholder' })).status).toBe(401);
  expect((await post(ask, { 'x-api-key': 'real' })).status).toBe(200);
  expect(model.requests.map(({ headers }) => headers['x-api-key'])).toEqual(['placeholder', 'real']);
});
