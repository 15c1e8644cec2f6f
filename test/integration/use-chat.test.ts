/**
 * The chat and the transport that `useChat` of Vercel's `ai`, version 5, is made of, unmodified, against the agent API.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AgentApi } from '../fixtures/agent-api.ts';

// biome-ignore lint/suspicious/noExplicitAny: parts differ by their type.
type Part = any;
interface UiMessage {
  readonly role: string;
  readonly parts: readonly Part[];
}

/** What the test uses of the package. */
interface Chat {
  readonly status: string;
  readonly messages: readonly UiMessage[];
  sendMessage(message: { readonly text: string }): Promise<void>;
  resumeStream(): Promise<void>;
  stop(): Promise<void>;
}

const api = new AgentApi();
const errors: Error[] = [];
let open: (id: string, messages?: readonly UiMessage[]) => Chat;

beforeAll(async () => {
  const { AbstractChat, DefaultChatTransport } = await import(resolve('test/clients/node_modules/ai/dist/index.mjs'));
  await api.serve();
  const transport = new DefaultChatTransport({
    api: `http://127.0.0.1:${api.client.port}/chat`,
    headers: { authorization: `Bearer ${api.client.token}` },
  });
  const onError = (error: Error) => errors.push(error);
  class TestChat extends (AbstractChat as new (init: object) => Chat) {}
  open = (id, messages = []) => new TestChat({ id, transport, onError, state: new State(messages) });
});
afterAll(() => api.dispose());

/** The state of a chat, as `useChat` keeps it for React. */
class State {
  status = 'ready';
  error: Error | undefined;
  messages: readonly UiMessage[];

  constructor(messages: readonly UiMessage[]) {
    this.messages = messages;
  }

  pushMessage = (message: UiMessage): void => {
    this.messages = [...this.messages, message];
  };

  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: UiMessage): void => {
    this.messages = this.messages.with(index, this.snapshot(message));
  };

  snapshot = <T>(thing: T): T => structuredClone(thing);
}

const last = (chat: Chat) => chat.messages.at(-1)!;
const part = (chat: Chat, type: string): Part => last(chat).parts.find((one) => one.type === type);

async function seen<T>(find: () => T | undefined): Promise<T> {
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    await new Promise((done) => setTimeout(done, 10));
  }
}

test('a prompt is answered on the stream, with its tool calls', async () => {
  const chat = open('one');
  await chat.sendMessage({ text: 'say hello world' });
  expect(last(chat)).toMatchObject({
    role: 'assistant',
    parts: [{ type: 'text', text: 'hello world', state: 'done' }],
  });
  await chat.sendMessage({ text: 'list files' });
  expect(part(chat, 'dynamic-tool')).toMatchObject({ toolName: 'List .', state: 'output-available' });
  expect([chat.status, errors]).toEqual(['ready', []]);
});

test('a permission is shown and answered while the stream is open', async () => {
  const chat = open('two');
  const sending = chat.sendMessage({ text: 'write a.txt: from a front end' });
  const { data } = await seen(() => (chat.messages.length > 1 ? part(chat, 'data-question') : undefined));
  const answer = { toolUseID: data.pendingId, answers: { [data.title]: 'Allow' } };
  expect(await api.client.post('/chat/question?id=two', answer)).toMatchObject({ status: 200 });
  await sending;
  expect(part(chat, 'dynamic-tool')).toMatchObject({ state: 'output-available' });
  expect(readFileSync(join(api.paths.cwd, 'a.txt'), 'utf8')).toBe('from a front end\n');
  expect([chat.status, errors]).toEqual(['ready', []]);
});

test('a page that was closed during a turn resumes it when it is opened again', async () => {
  const closed = open('three');
  const sending = closed.sendMessage({ text: 'ask colour: red, blue' });
  const { data } = await seen(() => (closed.messages.length > 1 ? part(closed, 'data-question') : undefined));
  await closed.stop();
  await sending;
  const { body } = await api.client.get('/chat?id=three');
  const again = open('three', body.messages);
  const resuming = again.resumeStream();
  await seen(() => (again.messages.length > 1 ? part(again, 'data-question') : undefined));
  await api.client.post('/chat/question?id=three', { toolUseID: data.pendingId, answers: { answer: 'blue' } });
  await resuming;
  expect(part(again, 'text')).toMatchObject({ text: 'You answered: blue', state: 'done' });
  expect([again.status, errors]).toEqual(['ready', []]);
});
