import { type AnyMessage, client as acpClient, methods } from '@agentclientprotocol/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type ServedSessions,
  type SessionClient,
  serveForTest,
} from '../../../../../../test/fixtures/session-client.ts';
import { FakeSessions } from '../../fake.ts';
import type { Script } from '../../fake-session.ts';

const options = [
  { id: 'y', name: 'Allow', kind: 'allow_once' },
  { id: 'n', name: 'Reject', kind: 'reject_once' },
];

const worker: Script = async ({ text, say, ask, signal }) => {
  say('thought', { text: 'hm' });
  if (text === 'wait') await new Promise((resolve) => signal.addEventListener('abort', resolve));
  if (text === 'fail') return 'failed';
  say('tool', { toolCallId: 't', title: 'Write', kind: 'edit', status: 'pending' });
  const { optionId } = await ask({ kind: 'permission', title: 'Write a.ts?', options, toolCallId: 't' });
  say('tool', { toolCallId: 't', status: optionId === 'y' ? 'completed' : 'failed' });
  say('text', { text: `You said ${text}` });
  return 'end_turn';
};

let served: ServedSessions<FakeSessions>;
afterEach(() => served.close());

async function serve(script = worker): Promise<SessionClient> {
  served = await serveForTest(new FakeSessions(script));
  return served.client;
}

/** The transport of the client of sandbox-agent: one POST after the other, and a stream after the first answer. */
function transport(client: SessionClient, path: string, ended: AbortSignal) {
  const { readable, writable } = new TransformStream<AnyMessage, AnyMessage>();
  const inbound = writable.getWriter();
  let isReading = false;
  const read = async () => {
    const stream = client.events(path, { accept: 'text/event-stream' });
    ended.addEventListener('abort', () => void stream.return(undefined).catch(() => {}));
    for await (const { data } of stream) await inbound.write(JSON.parse(data));
  };
  const outbound = new WritableStream<AnyMessage>({
    write: async (message) => {
      const { status, body } = await client.post(`${path}?agent=demo`, message);
      if (!isReading) void read().catch(() => {});
      isReading = true;
      if (status === 200) await inbound.write(body);
      else if (status !== 202) throw new Error(`${status} ${body.message}`);
    },
  });
  return { readable, writable: outbound };
}

const rpc = (method: string, params: object = {}, id: number | undefined = 1) => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});

describe('/v1/acp', () => {
  it('serves a client of the ACP SDK: a session, a prompt, a permission, updates', async () => {
    const client = await serve();
    const updates: string[] = [];
    const over = new AbortController();
    const app = acpClient({ name: 'test' })
      .onRequest(methods.client.session.requestPermission, ({ params }) => ({
        outcome: { outcome: 'selected' as const, optionId: params.options[0]!.optionId },
      }))
      .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update.sessionUpdate));
    const prompt = [{ type: 'text' as const, text: 'hello' }];
    const stop = await app.connectWith(transport(client, '/v1/acp/c1', over.signal), async (agent) => {
      await agent.request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: {} });
      const { sessionId } = await agent.request(methods.agent.session.new, { cwd: '/workspace', mcpServers: [] });
      return agent.request(methods.agent.session.prompt, { sessionId, prompt });
    });
    over.abort();
    expect(stop).toEqual({ stopReason: 'end_turn' });
    expect(updates).toEqual(['agent_thought_chunk', 'tool_call', 'tool_call_update', 'agent_message_chunk']);
  });

  it('answers in the response to the POST if there is no stream, and replays by Last-Event-ID', async () => {
    const client = await serve(async ({ text, say }) => {
      say('text', { text });
      return 'end_turn';
    });
    const at = '/v1/acp/c2';
    expect((await client.post(`${at}?agent=demo`, rpc('initialize'))).body.result).toMatchObject({
      protocolVersion: 1,
    });
    const { sessionId } = (await client.post(at, rpc('session/new', { cwd: '/', mcpServers: [] }))).body.result;
    const prompt = [{ type: 'text', text: 'hello' }];
    const { status, body } = await client.post(at, rpc('session/prompt', { sessionId, prompt }, 7));
    expect({ status, body }).toEqual({
      status: 200,
      body: { jsonrpc: '2.0', id: 7, result: { stopReason: 'end_turn' } },
    });
    const [first] = await client.first(at, 1);
    expect(JSON.parse(first!.data)).toMatchObject({
      method: 'session/update',
      params: { sessionId, update: { content: { text: 'hello' } } },
    });
    await client.post(at, rpc('session/load', { sessionId, cwd: '/', mcpServers: [] }));
    const loaded = await client.first(at, ({ data }) => data.includes('agent_message_chunk'), {
      'last-event-id': first!.id,
    });
    expect(loaded.map(({ data }) => JSON.parse(data).params.update.sessionUpdate)).toContain('user_message_chunk');
    expect((await client.get(at, { 'last-event-id': '999' })).status).toBe(400);
    expect((await client.post(at, rpc('session/list'))).body.result.sessions).toMatchObject([{ sessionId }]);
  });

  it('shows what other clients do in a session, and keeps the first answer to a question', async () => {
    const client = await serve();
    const at = '/v1/acp/c3';
    await client.post(at, rpc('initialize'));
    const { sessionId } = (await client.post(at, rpc('session/new'))).body.result;
    await client.post(`/sessions/${sessionId}/prompt`, { text: 'by another' });
    const seen = await client.first(at, ({ data }) => data.includes('request_permission'));
    expect(JSON.parse(seen[0]!.data).params.update).toMatchObject({ sessionUpdate: 'user_message_chunk' });
    const { id } = JSON.parse(seen.at(-1)!.data);
    await client.post(`/sessions/${sessionId}/pending/${id}`, { optionId: 'n' });
    const late = { jsonrpc: '2.0', id, result: { outcome: { outcome: 'selected', optionId: 'y' } } };
    expect((await client.post(at, late)).status).toBe(202);
    expect(served.sessions.find(sessionId).fold.answerTo(id)).toMatchObject({ optionId: 'n' });
  });

  it('cancels a turn', async () => {
    const client = await serve();
    const at = '/v1/acp/c4';
    await client.post(at, rpc('initialize'));
    const { sessionId } = (await client.post(at, rpc('session/new'))).body.result;
    const turn = client.post(at, rpc('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'wait' }] }));
    await client.first(at, ({ data }) => data.includes('agent_thought_chunk'));
    const cancel = { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId } };
    expect((await client.post(at, cancel)).status).toBe(202);
    expect((await turn).body.result).toEqual({ stopReason: 'cancelled' });
  });

  it('answers with JSON-RPC errors, and refuses requests to unknown connections', async () => {
    const client = await serve();
    const at = '/v1/acp/c5';
    expect((await client.get(at)).status).toBe(404);
    expect((await client.post(at, rpc('session/new'))).status).toBe(404);
    await client.post(`${at}?agent=demo`, rpc('initialize'));
    const { sessionId } = (await client.post(at, rpc('session/new'))).body.result;
    const codes: [string, object, number][] = [
      ['no/such', {}, -32601],
      ['constructor', {}, -32601],
      ['session/load', { sessionId: '../x' }, -32602],
      ['session/load', { sessionId: '01JD8Q4Z7W3V5T1N9R2B6C8D0E' }, -32002],
      ['session/prompt', { sessionId, prompt: [{ type: 'audio' }] }, -32602],
      ['session/set_mode', { sessionId, modeId: 'none' }, -32602],
      ['session/prompt', { sessionId, prompt: [{ type: 'text', text: 'fail' }] }, -32603],
    ];
    for (const [method, params, code] of codes)
      expect(await client.post(at, rpc(method, params))).toMatchObject({ status: 200, body: { error: { code } } });
    expect((await client.post(`${at}?agent=other`, rpc('session/list'))).status).toBe(409);
    expect((await client.post(at, [rpc('session/list')])).status).toBe(400);
    expect((await client.post('/v1/acp/a%2fb', rpc('initialize'))).status).toBe(400);
    expect((await client.get('/v1/acp')).body).toMatchObject({ servers: [{ serverId: 'c5', agent: 'demo' }] });
    expect([(await client.call('DELETE', at)).status, (await client.call('DELETE', at)).status]).toEqual([204, 204]);
    expect((await client.get(at)).status).toBe(404);
    expect(served.sessions.list()).toHaveLength(1);
  });

  it('makes room for a new connection by closing the oldest idle one', async () => {
    const client = await serve();
    for (let at = 0; at < 101; at++) await client.post(`/v1/acp/n${at}`, rpc('initialize'));
    const { servers } = (await client.get('/v1/acp')).body;
    expect([servers.length, servers[0].serverId]).toEqual([100, 'n1']);
  });
});
