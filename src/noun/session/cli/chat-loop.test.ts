import { expect, test } from 'vitest';
import { Fault } from '../../../model/fault.ts';
import type { EventData, EventType, SessionEvent } from '../model/session.ts';
import { Chat } from './chat-loop.ts';
import { ChatScreen } from './chat-screen.ts';
import { InputLine } from './input-line.ts';

const painter = { colourful: false, paint: (_: unknown, text: string) => text };
const ctrl = (name: string) => ({ name, ctrl: true });
const enter = { name: 'return' };

/** A chat whose requests are recorded. `refusal`: the Fault that the daemon answers with. */
function chatAt(seq = 1, refusal?: Fault) {
  const calls: unknown[] = [];
  const written: string[] = [];
  let now = 0;
  const ask = (...words: unknown[]) => {
    calls.push(words);
    return refusal ? Promise.reject(refusal) : Promise.resolve();
  };
  const screen = new ChatScreen({ columns: 100, write: (text) => written.push(String(text)) });
  const chat = new Chat({
    ...{ screen, painter, seq, input: new InputLine() },
    talk: {
      prompt: (text) => ask('prompt', text),
      answer: (id, body) => ask('answer', id, body),
      cancel: () => ask('cancel'),
      changes: () => Promise.resolve('2 files changed: carrel diff box'),
    },
    leave: () => calls.push('left'),
    sent: (text) => calls.push(['sent', text]),
    now: () => now,
  });
  let at = 0;
  const take = <T extends EventType>(type: T, data: EventData[T], turnId = 't') => {
    at += 1;
    chat.take({
      seq: at,
      at: '2026-01-01T00:00:00.000Z',
      sessionId: 'S',
      turnId,
      type,
      data,
    } as unknown as SessionEvent);
  };
  const type = (text: string) => {
    for (const sequence of text) chat.press({ sequence, name: sequence });
  };
  const shown = () => {
    screen.draw();
    return written.splice(0).join('');
  };
  take('session.created', { agent: 'demo', cwd: '/workspace' });
  return { chat, calls, take, type, shown, pass: (ms: number) => (now += ms) };
}

const question = (more: object) => ({ pendingId: 'q', kind: 'permission' as const, title: 'Write?', ...more });
const options = [
  { id: 'ok', name: 'Allow', kind: 'allow_once' },
  { id: 'no', name: 'Reject', kind: 'reject_once' },
];
const prompt = { content: [{ type: 'text' as const, text: 'go' }] };

test('Enter sends the typed text', () => {
  const { chat, calls, type } = chatAt();
  type('hello');
  chat.press(enter);
  chat.press(enter);
  expect(calls).toEqual([
    ['sent', 'hello'],
    ['prompt', 'hello'],
  ]);
});

test('a key answers a permission question once, but not within typed text', () => {
  const { calls, take, type } = chatAt();
  take('prompt', prompt);
  take('question', question({ options }));
  type('yn');
  expect(calls).toEqual([['answer', 'q', { optionId: 'ok' }]]);
  const other = chatAt();
  other.type('ma');
  other.take('prompt', prompt);
  other.take('question', question({ options }));
  other.type('y');
  expect(other.calls).toEqual([]);
});

test('a question with a schema is answered by typing', () => {
  const { chat, calls, take, type, shown } = chatAt();
  const schema = { properties: { age: { type: 'integer', title: 'Age' } }, required: ['age'] };
  take('prompt', prompt);
  take('question', { pendingId: 'q', kind: 'question', title: 'How old?', schema });
  expect(shown()).toContain('Age\n? ');
  type('old');
  chat.press(enter);
  expect(shown()).toContain('type a number');
  type('36');
  chat.press(enter);
  expect(calls).toEqual([['answer', 'q', { content: { age: 36 } }]]);
});

test('the error for a refused answer is shown, and the question is open again', async () => {
  const { calls, take, type, shown } = chatAt(1, new Fault('unavailable', 'no daemon'));
  take('prompt', prompt);
  take('question', question({ options }));
  type('y');
  await Promise.resolve();
  await new Promise(setImmediate);
  expect(shown()).toContain('no daemon');
  type('n');
  expect(calls).toHaveLength(2);
});

test('settle waits for requests that were sent just before leaving', async () => {
  const { chat, calls, type } = chatAt(1, new Fault('unavailable', 'no daemon'));
  let isSettled = false;
  await chat.settle();
  type('hello');
  chat.press(enter);
  chat.press(ctrl('d'));
  void chat.settle().then(() => {
    isSettled = true;
  });
  expect([calls.at(-1), isSettled]).toEqual(['left', false]);
  await expect.poll(() => isSettled).toBe(true);
});

test('Ctrl-C cancels the turn or empties the input, and leaves if pressed twice quickly', () => {
  const { chat, calls, take, type, pass } = chatAt();
  take('prompt', prompt);
  chat.press(ctrl('c'));
  expect(calls).toEqual([['cancel']]);
  pass(5000);
  type('x');
  chat.press(ctrl('c'));
  expect(calls).toEqual([['cancel']]);
  pass(100);
  chat.press(ctrl('c'));
  expect(calls).toEqual([['cancel'], 'left']);
  chat.press(ctrl('d'));
  expect(calls).toEqual([['cancel'], 'left', 'left']);
});

test('the end of the history is shown when it is complete, and live events at once', () => {
  const { take, shown } = chatAt(3);
  expect(shown()).not.toContain('go');
  take('prompt', prompt);
  take('text', { text: Array.from({ length: 60 }, (_, n) => `line ${n}\n`).join('') });
  const text = shown();
  expect(text).toContain('… 21 lines before');
  expect(text).toContain('line 59');
  expect(text).not.toContain('line 19\n');
  take('text', { text: 'live' });
  expect(shown()).toContain('live');
});

test('keys typed while the history arrives answer no question in it', () => {
  const { chat, calls, take, type, shown } = chatAt(5);
  take('prompt', prompt);
  take('question', question({ options }));
  type('yes');
  chat.press(enter);
  chat.press(ctrl('c'));
  expect(calls).toEqual([
    ['sent', 'yes'],
    ['prompt', 'yes'],
  ]);
  expect(shown()).not.toContain('answer:');
  take('answer', { pendingId: 'q', optionId: 'ok' });
  take('turn.ended', { stopReason: 'end_turn' });
  expect(shown()).not.toContain('working');
});

test('the status shows the running tool call, and the end of a turn the changes', async () => {
  const { take, shown } = chatAt();
  take('prompt', prompt);
  expect(shown()).toContain('working…');
  take('tool', { toolCallId: 'c', title: 'Run make', status: 'in_progress' });
  expect(shown()).toContain('Run make… (Ctrl-C cancels)');
  take('turn.ended', { stopReason: 'end_turn' });
  await Promise.resolve();
  await new Promise(setImmediate);
  expect(shown()).toContain('2 files changed: carrel diff box');
});

test('a note is printed on its own line while the agent writes', () => {
  const { chat, take, shown } = chatAt();
  take('prompt', prompt);
  take('text', { text: 'half a' });
  chat.note('no daemon');
  expect(shown()).toContain('half a\nno daemon\n');
});

test('the number of a choice answers a question with a schema, and is not kept as a prompt', () => {
  const { chat, calls, take, type, shown } = chatAt();
  const schema = { properties: { colour: { type: 'string', enum: ['red', 'blue'] } }, required: ['colour'] };
  take('prompt', prompt);
  take('question', { pendingId: 'q', kind: 'question', title: 'Which?', schema });
  type('3');
  chat.press({ name: 'backspace' });
  type('2');
  expect(calls).toEqual([['answer', 'q', { content: { colour: 'blue' } }]]);
  chat.press({ name: 'up' });
  expect(shown()).toMatch(/› \u001b/);
});
