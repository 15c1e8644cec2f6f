import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ServedSessions, serveForTest } from '../../../../../../test/fixtures/session-client.ts';
import { type Received, received } from '../../../../../../test/fixtures/ui-message-client.ts';
import { FakeSessions } from '../../fake.ts';
import type { Script } from '../../fake-session.ts';
import { sessionIdOf } from './chat.ts';

const options = [
  { id: 'y', name: 'Allow', kind: 'allow_once' },
  { id: 'n', name: 'Reject', kind: 'reject_once' },
];
const schema = {
  type: 'object',
  properties: { colour: { type: 'string', enum: ['red', 'blue'] }, count: { type: 'integer' } },
};

let script: Script;
let served: ServedSessions<FakeSessions>;
beforeAll(async () => {
  served = await serveForTest(new FakeSessions((turn) => script(turn)));
});
beforeEach(async () => {
  for (const { id } of served.sessions.list()) await served.sessions.remove(id);
  script = async ({ text, say }) => {
    say('thought', { text: 'he said ' });
    say('thought', { text: 'something' });
    say('text', { text: 'You said ' });
    say('text', { text });
    return 'end_turn';
  };
});
afterAll(() => served.close());

const message = (text: string, id = 'u1') => ({ id, role: 'user', parts: [{ type: 'text', text }] });

async function post(body: object, path = '/chat'): Promise<string[]> {
  const headers = { 'content-type': 'application/json', 'x-approvals': 'true' };
  const stream = served.client.events(path, headers, 'POST', JSON.stringify(body));
  const all: string[] = [];
  for await (const { data } of stream) all.push(data);
  return all;
}

async function ask(body: object, path = '/chat'): Promise<Received> {
  return received(await post(body, path));
}

async function assistant(): Promise<{ id: string; parts: object[] }> {
  const { body } = await served.client.get('/chat');
  return body.messages.at(-1);
}

describe('POST /chat', () => {
  it('answers a useChat request with the UI message stream', async () => {
    const request = served.client.open('POST', '/chat');
    const response = new Promise<import('node:http').IncomingMessage>((resolve) => request.once('response', resolve));
    request.end(JSON.stringify({ id: 'c1', trigger: 'submit-message', messages: [message('hello')] }));
    const { headers, statusCode } = await response;
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-vercel-ai-ui-message-stream': 'v1' });
    request.destroy();
  });

  it('streams the same message that GET /chat shows afterwards', async () => {
    script = async ({ say }) => {
      say('thought', { text: 'first look' });
      say('tool', { toolCallId: 'a', title: 'Read a.ts', kind: 'read', status: 'pending' });
      say('tool', { toolCallId: 'a', rawInput: { path: 'a.ts' }, status: 'in_progress' });
      say('tool', {
        toolCallId: 'a',
        status: 'completed',
        content: [{ type: 'content', content: { type: 'text', text: '42' } }],
      });
      say('text', { text: 'It is ' });
      say('plan', { entries: [{ content: 'look', priority: 'high', status: 'completed' }] });
      say('text', { text: '42.' });
      say('tool', { toolCallId: 'b', title: 'Run it', rawInput: {} });
      say('tool', { toolCallId: 'b', status: 'failed', rawOutput: 'no such program' });
      return 'end_turn';
    };
    const { id, parts, ends } = await ask({ messages: [message('what is it?')] });
    expect(ends).toEqual(['finish']);
    const shown = await assistant();
    expect(parts).toHaveLength(6);
    expect({ id, parts }).toEqual({ id: shown.id, parts: shown.parts });
  });

  it('has a session for each chat id, and uses the newest without one', async () => {
    await ask({ id: 'one', messages: [message('1')] });
    await ask({ id: 'two', messages: [message('2')] });
    await ask({ id: 'one', messages: [message('3', 'u2')] });
    expect(served.sessions.list().map(({ id }) => id)).toEqual([sessionIdOf('one'), sessionIdOf('two')]);
    const { body } = await served.client.get('/chat?id=one');
    expect(body.messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
    await ask({ messages: [message('4', 'u3')] });
    expect(served.sessions.list()).toHaveLength(2);
  });

  it('returns the same turn when the request is repeated, and begins another turn to regenerate', async () => {
    const body = { id: 'c', trigger: 'submit-message', messages: [message('again')] };
    const [first, second] = [await post(body), await post(body)];
    expect(second).toEqual(first);
    await ask({ ...body, trigger: 'regenerate-message' });
    const turns = served.sessions.list()[0]!.log.filter(({ event }) => event.type === 'prompt');
    expect(turns).toHaveLength(2);
  });

  it('answers with a conflict while a turn runs', async () => {
    script = ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve('cancelled')));
    const started = await served.client.post('/chat', { messages: [message('wait')] }, { accept: 'application/json' });
    expect(started).toMatchObject({ status: 202, body: { status: 'started', completionId: 'u1' } });
    expect(await served.client.get('/chat/status')).toMatchObject({
      body: { isRunning: true, completionId: 'u1', startedAt: expect.stringMatching(/^2/), error: null },
    });
    const busy = await served.client.post('/chat', { messages: [message('too', 'u2')] });
    expect(busy).toMatchObject({ status: 409, body: { error: 'completion_in_progress', completionId: 'u1' } });
    const cancelled = { success: true, completionId: 'u1', status: 'cancelled' };
    expect(await served.client.post('/chat/cancel')).toMatchObject({ status: 200, body: cancelled });
    expect(await served.client.post('/chat/cancel')).toMatchObject({
      status: 409,
      body: { error: 'no_active_completion' },
    });
    expect(received(await post({ messages: [message('wait')] })).ends).toEqual(['abort']);
  });

  it('reports a turn that failed', async () => {
    script = async () => 'failed';
    expect((await ask({ messages: [message('x')] })).ends).toEqual(['error', 'finish']);
    expect((await served.client.get('/chat/status')).body).toMatchObject({ isRunning: false, error: 'failed' });
  });

  it('passes images on, and refuses other files', async () => {
    const parts = [
      { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0=' },
      { type: 'step-start' },
    ];
    await ask({ messages: [{ role: 'user', parts }] });
    const prompt = served.sessions.list()[0]!.log.find(({ event }) => event.type === 'prompt')!;
    expect(prompt.event.data).toEqual({ content: [{ type: 'image', mimeType: 'image/png', data: 'iVBORw0=' }] });
    for (const url of ['data:text/html;base64,PGI+', 'data:image/png,x']) {
      const refused = { messages: [{ role: 'user', parts: [{ type: 'file', mediaType: 'text/html', url }] }] };
      expect(await served.client.post('/chat', refused)).toMatchObject({ status: 400 });
    }
  });

  it.each([
    {},
    { messages: [] },
    { messages: 'x' },
    { messages: [{ role: 'admin', parts: [] }] },
    { messages: [message('')], id: 5 },
  ])('refuses the body %j', async (body) => {
    expect(await served.client.post('/chat', body)).toMatchObject({ status: 400, body: { code: 'invalid' } });
  });
});

describe('a permission', () => {
  beforeEach(() => {
    script = async ({ say, ask }) => {
      say('tool', { toolCallId: 'w', title: 'Write a.ts', rawInput: { path: 'a.ts' } });
      const { optionId } = await ask({
        pendingId: 'p1',
        kind: 'permission',
        title: 'Write a.ts?',
        options,
        toolCallId: 'w',
      });
      say('tool', { toolCallId: 'w', status: optionId === 'y' ? 'completed' : 'failed', rawOutput: optionId });
      return 'end_turn';
    };
  });

  it.each([
    [true, 'output-available'],
    [false, 'output-error'],
  ])('is requested on the stream and answered by the next request (approved: %s)', async (approved, state) => {
    const first = await ask({ id: 'c', messages: [message('write')] });
    const tool = first.parts.find(({ type }) => type === 'dynamic-tool');
    expect(tool).toMatchObject({ state: 'approval-requested', approval: { id: 'p1' } });
    const back = { ...tool, state: 'approval-responded', approval: { id: 'p1', approved } };
    const messages = [message('write'), { id: first.id, role: 'assistant', parts: [back] }];
    const rest = received(await post({ id: 'c', messages }), { ...first, parts: [back], ends: [] });
    expect(rest.parts.find(({ type }) => type === 'dynamic-tool')).toMatchObject({ toolCallId: 'w', state });
    expect(rest.ends).toEqual(['finish']);
  });

  it('is shown and answered at /chat/question', async () => {
    await ask({ messages: [message('write')] });
    const shown = { question: 'Write a.ts?', options: [{ label: 'Allow' }, { label: 'Reject' }], multiSelect: false };
    expect((await served.client.get('/chat/question')).body).toMatchObject({
      question: { toolUseID: 'p1', questions: [shown] },
    });
    expect((await served.client.get('/chat/question?toolUseID=p1')).body).toMatchObject({ status: 'pending' });
    const following = served.client.first('/chat', ({ data }) => data === '[DONE]', { accept: 'text/event-stream' });
    const wrong = { toolUseID: 'p1', answers: { 'Write a.ts?': 'Perhaps' } };
    expect(await served.client.post('/chat/answer', wrong)).toMatchObject({ status: 400 });
    const answer = { toolUseID: 'p1', answers: { 'Write a.ts?': 'Allow' } };
    expect(await served.client.post('/chat/question', answer)).toMatchObject({ status: 200, body: { success: true } });
    const { parts } = received((await following).map(({ data }) => data));
    expect(parts).toMatchObject([{ state: 'output-available', output: 'y' }, { data: { answer: { optionId: 'y' } } }]);
    expect((await served.client.get('/chat/question?toolUseID=p1')).body).toEqual({
      status: 'answered',
      question: null,
    });
    expect(await served.client.post('/chat/answer', answer)).toMatchObject({ status: 404 });
    expect((await served.client.get('/chat/question')).body).toEqual({ question: null });
  });

  it('is sent as data to a client without approvals, whose stream continues after the answer', async () => {
    const body = JSON.stringify({ id: 'c', messages: [message('write')] });
    const sent: string[] = [];
    for await (const { data } of served.client.events('/chat', {}, 'POST', body)) {
      sent.push(data);
      if (!data.includes('"data-question"') || data.includes('"answer"')) continue;
      const answer = { toolUseID: 'p1', answers: { 'Write a.ts?': 'Allow' } };
      expect(await served.client.post('/chat/question?id=c', answer)).toMatchObject({ status: 200 });
    }
    expect(sent.join()).not.toContain('approval');
    expect(received(sent)).toMatchObject({ parts: [{ state: 'output-available' }, {}], ends: ['finish'] });
  });

  it('is shown as expired after its turn was cancelled', async () => {
    await ask({ messages: [message('write')] });
    await served.client.post('/chat/cancel');
    expect((await served.client.get('/chat/question?toolUseID=p1')).body).toEqual({
      status: 'expired',
      question: null,
    });
  });
});

it('a question with a form is answered field by field', async () => {
  let got: unknown;
  script = async ({ ask }) => {
    got = await ask({ pendingId: 'p2', kind: 'question', title: 'Which?', schema });
    return 'end_turn';
  };
  await served.client.post('/chat', { messages: [message('form')] }, { accept: 'application/json' });
  await served.client.first(`/sessions/${served.sessions.list()[0]!.id}/events`, ({ data }) => data.includes('p2'));
  const { body } = await served.client.get('/chat/question');
  expect(body.question.questions).toMatchObject([
    { header: 'colour', options: [{ label: 'red' }, { label: 'blue' }] },
    { header: 'count' },
  ]);
  const following = served.client.first('/chat', ({ data }) => data === '[DONE]', { accept: 'text/event-stream' });
  await served.client.post('/chat/answer', { toolUseID: 'p2', answers: { colour: 'red', count: '3' } });
  await following;
  expect(got).toEqual({ pendingId: 'p2', content: { colour: 'red', count: 3 } });
});

describe('GET /chat', () => {
  it('leaves out the message of a running turn, which the stream sends from its beginning', async () => {
    script = async ({ say, signal }) => {
      say('text', { text: 'begun' });
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      return 'cancelled';
    };
    await served.client.post('/chat', { id: 'c', messages: [message('go')] }, { accept: 'application/json' });
    const path = `/chat/c/stream`;
    const [start, , delta] = await served.client.first(path, 3);
    expect([start, delta].map((sent) => JSON.parse(sent!.data).type)).toEqual(['start', 'text-delta']);
    const { body } = await served.client.get('/chat');
    expect(body.messages.map(({ role }: { role: string }) => role)).toEqual(['user']);
    await served.client.post('/chat/cancel');
    expect((await served.client.get(path)).status).toBe(204);
    expect((await served.client.get('/chat', { accept: 'text/event-stream' })).status).toBe(204);
    expect((await served.client.get('/chat')).body.messages).toHaveLength(2);
  });

  it('and the other routes answer without any session', async () => {
    expect((await served.client.get('/')).body).toEqual({ status: 'ok', service: 'agent' });
    expect((await served.client.get('/health')).body).toMatchObject({ healthy: true });
    expect((await served.client.get('/chat')).body).toEqual({ messages: [] });
    expect((await served.client.get('/chat/status')).body).toMatchObject({ isRunning: false, completionId: null });
    expect((await served.client.get('/chat/question')).body).toEqual({ question: null });
    expect(await served.client.call('DELETE', '/chat')).toMatchObject({ status: 200, body: { success: true } });
  });

  it('shows one session below /sessions, and DELETE there removes it', async () => {
    await ask({ messages: [message('hi')] });
    const { id } = served.sessions.list()[0]!;
    expect((await served.client.get(`/sessions/${id}/chat`)).body.messages).toHaveLength(2);
    await ask({ messages: [message('more', 'u2')] }, `/sessions/${id}/chat`);
    expect((await served.client.get(`/sessions/${id}/chat`)).body.messages).toHaveLength(4);
    expect((await served.client.call('DELETE', `/sessions/${id}/chat`)).body).toEqual({ success: true });
    expect(served.sessions.list()).toEqual([]);
  });
});
