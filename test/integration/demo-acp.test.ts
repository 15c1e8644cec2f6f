/** The demo agent, driven by the client of the protocol's own package. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { type ClientContext, client, methods, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk/unstable';
import { afterEach, beforeEach, expect, test } from 'vitest';

interface Seen {
  readonly sessionUpdate: string;
  readonly content?: { readonly text?: string };
  readonly status?: string;
}

let folder: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-demo-acp-'));
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

const answers = { permission: 'allow', elicited: 'blue' };

/** A new process of the agent, and what it sent. */
async function withAgent<T>(act: (agent: ClientContext, seen: Seen[]) => Promise<T>): Promise<T> {
  const child = spawn(process.execPath, [resolve('dist/program/demo-acp.js')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { HOME: folder, PATH: process.env.PATH },
  });
  children.push(child);
  const seen: Seen[] = [];
  const app = client({ name: 'test' })
    .onNotification(methods.client.session.update, ({ params }) => void seen.push(params.update as Seen))
    .onRequest(methods.client.session.requestPermission, () => ({
      outcome: { outcome: 'selected', optionId: answers.permission },
    }))
    .onRequest(methods.client.elicitation.create, () => ({ action: 'accept', content: { answer: answers.elicited } }));
  const stream = ndJsonStream(Writable.toWeb(child.stdin!), Readable.toWeb(child.stdout!) as ReadableStream);
  return app.connectWith(stream, async (agent) => {
    await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { elicitation: { form: {} } },
    });
    return act(agent, seen);
  });
}

const begin = (agent: ClientContext) => agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] });

function ask(agent: ClientContext, sessionId: string, text: string) {
  return agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
}

const textOf = (seen: readonly Seen[], kind = 'agent_message_chunk') =>
  seen.flatMap(({ sessionUpdate, content }) => (sessionUpdate === kind ? [content!.text] : [])).join('');

test('the demo agent writes a file after a permission, with a diff, and not after a rejection', async () => {
  await withAgent(async (agent, seen) => {
    const { sessionId, modes } = await begin(agent);
    expect(modes!.currentModeId).toBe('ask');
    expect(await ask(agent, sessionId, 'write a/b.txt: hello\nworld')).toMatchObject({ stopReason: 'end_turn' });
    expect(readFileSync(join(folder, 'a/b.txt'), 'utf8')).toBe('hello\nworld\n');
    const diff = { type: 'diff', path: join(folder, 'a/b.txt'), oldText: null, newText: 'hello\nworld\n' };
    expect(seen[0]).toMatchObject({ sessionUpdate: 'tool_call', status: 'pending', content: [diff] });
    expect(textOf(seen)).toBe('I wrote a/b.txt.');
    answers.permission = 'reject';
    await ask(agent, sessionId, 'write a/b.txt: other');
    expect(readFileSync(join(folder, 'a/b.txt'), 'utf8')).toBe('hello\nworld\n');
    expect(textOf(seen)).toContain('I did not write a/b.txt.');
    await agent.request(methods.agent.session.setMode, { sessionId, modeId: 'auto' });
    await ask(agent, sessionId, 'write a/b.txt: other');
    expect(readFileSync(join(folder, 'a/b.txt'), 'utf8')).toBe('other\n');
    answers.permission = 'allow';
  });
});

test('the demo agent lists, reads, runs, plans, thinks and asks', async () => {
  await withAgent(async (agent, seen) => {
    const { sessionId } = await begin(agent);
    for (const text of ['list files', 'read nothing', 'run echo hi', 'plan', 'think deep', 'ask Which?: red, blue']) {
      expect(await ask(agent, sessionId, text)).toMatchObject({ stopReason: 'end_turn' });
    }
    const said = textOf(seen);
    expect(said).toContain('.demo-acp');
    expect(said).toContain('ENOENT');
    expect(said).toContain('It succeeded.');
    expect(said).toContain('You answered: blue');
    expect(textOf(seen, 'agent_thought_chunk')).toBe('deep');
    expect(seen.filter(({ sessionUpdate }) => sessionUpdate === 'plan')).toHaveLength(4);
    await ask(agent, sessionId, 'sing');
    expect(textOf(seen)).toContain('write FILE: TEXT');
  });
});

test('a cancelled turn ends at once, and a failed turn ends with an error', async () => {
  await withAgent(async (agent) => {
    const { sessionId } = await begin(agent);
    const turn = ask(agent, sessionId, 'wait 1000');
    await agent.notify(methods.agent.session.cancel, { sessionId });
    expect(await turn).toMatchObject({ stopReason: 'cancelled' });
    await expect(ask(agent, sessionId, 'fail')).rejects.toThrow(/asked to fail/);
    expect(await ask(agent, sessionId, 'refuse')).toMatchObject({ stopReason: 'refusal' });
  });
});

test('another process loads the session, and a fork does not change it', async () => {
  const sessionId = await withAgent(async (agent) => {
    const { sessionId } = await begin(agent);
    await ask(agent, sessionId, 'say one');
    return sessionId;
  });
  await withAgent(async (agent, seen) => {
    await agent.request(methods.agent.session.load, { sessionId, cwd: folder, mcpServers: [] });
    expect(textOf(seen, 'user_message_chunk')).toBe('say one');
    expect(textOf(seen)).toBe('one');
    const fork = await agent.request(methods.agent.session.fork, { sessionId, cwd: folder, mcpServers: [] });
    await ask(agent, fork.sessionId, 'say two');
    await ask(agent, fork.sessionId, 'recall');
    expect(textOf(seen)).toContain('say one\nsay two');
    seen.length = 0;
    await ask(agent, sessionId, 'recall');
    expect(textOf(seen)).toBe('say one\nrecall');
  });
});
