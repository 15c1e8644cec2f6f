import { describe, expect, test } from 'vitest';
import type { EventData, EventType, SessionEvent } from '../model/session.ts';
import { EventPrinter } from './event-printer.ts';

const bare = { colourful: false, paint: (_: unknown, text: string) => text };

type AnyEvent = { [T in EventType]: readonly [T, EventData[T]] }[EventType];

function printed(...contents: readonly AnyEvent[]): string {
  const printer = new EventPrinter(bare);
  const at = '2026-01-01T00:00:00.000Z';
  const events = contents.map(
    ([type, data], n) => ({ seq: n + 1, at, sessionId: 'S', turnId: 't', type, data }) as SessionEvent,
  );
  return events.map((event) => printer.take(event)).join('');
}

const prompt = (text: string): AnyEvent => ['prompt', { content: [{ type: 'text', text }] }];
const ended: AnyEvent = ['turn.ended', { stopReason: 'end_turn' }];

test('text is appended in pieces, and the next event begins on a new line', () => {
  const tool: AnyEvent = ['tool', { toolCallId: 'c', title: 'Read a', status: 'completed' }];
  expect(printed(prompt('hi'), ['text', { text: 'Hello' }], ['text', { text: ' you' }], tool, ended)).toBe(
    '› hi\nHello you\n✓ Read a\n',
  );
});

test('prompts are separated by a blank line, and further lines of a prompt are indented', () => {
  expect(printed(prompt('one\ntwo\n'), ['text', { text: 'x' }], ended, prompt('three'))).toBe(
    '› one\n  two\nx\n\n› three\n',
  );
});

test('thoughts and text do not share a line', () => {
  expect(printed(['thought', { text: 'hm' }], ['text', { text: 'yes' }], ended)).toBe('hm\nyes\n');
});

test('control characters of an agent do not reach the terminal, except tabs and line ends', () => {
  expect(printed(['text', { text: 'a\u001b[31mb\tc\r\nd\u202e' }])).toBe('a\\u001b[31mb\tc\nd\\u202e');
});

describe('a tool call', () => {
  const content = (text: string) => [{ type: 'content', content: { type: 'text', text } }];

  test('is one line when it has ended, with a short result', () => {
    const begun: AnyEvent = ['tool', { toolCallId: 'c', title: 'Run ls', status: 'pending' }];
    const done = (text: string): AnyEvent => ['tool', { toolCallId: 'c', status: 'completed', content: content(text) }];
    expect(printed(begun)).toBe('');
    expect(printed(begun, done('a.txt\n'))).toBe('✓ Run ls: a.txt\n');
    expect(printed(begun, done('a\nb\nc\n'))).toBe('✓ Run ls (3 lines)\n');
  });

  test('shows the end of its output if it failed', () => {
    const failed: AnyEvent = [
      'tool',
      { toolCallId: 'c', title: 'Run x', status: 'failed', content: content('1\n2\n3\n4\n5\n6') },
    ];
    expect(printed(failed)).toBe('✗ Run x (6 lines)\n  2\n  3\n  4\n  5\n  6\n');
  });

  test('shows the diff of an edit once: with the question, or at its end', () => {
    const diff = [{ type: 'diff', path: '/workspace/a.txt', oldText: 'x\n', newText: 'y\n' }];
    const begun: AnyEvent = ['tool', { toolCallId: 'c', title: 'Write a.txt', content: diff }];
    const shown = '  --- a/a.txt\n  +++ b/a.txt\n  @@ -1,1 +1,1 @@\n  -x\n  +y\n';
    const options = [
      { id: 'o', name: 'Allow', kind: 'allow_once' },
      { id: 'p', name: 'Reject', kind: 'reject_once' },
    ];
    const question: AnyEvent = [
      'question',
      { pendingId: 'q', kind: 'permission', title: 'Write a.txt', options, toolCallId: 'c' },
    ];
    const done: AnyEvent = ['tool', { toolCallId: 'c', status: 'completed' }];
    expect(printed(begun, done)).toBe(`✓ Write a.txt\n${shown}`);
    expect(printed(begun, question, ['answer', { pendingId: 'q', optionId: 'o' }], done)).toBe(
      `${shown}? Write a.txt  y Allow, n Reject\n  → Allow\n✓ Write a.txt\n`,
    );
  });

  test('shows only the beginning of a long diff', () => {
    const newText = Array.from({ length: 100 }, (_, n) => `${n}\n`).join('');
    const diff = [{ type: 'diff', path: '/workspace/a', newText }];
    const text = printed(['tool', { toolCallId: 'c', title: 'W', status: 'completed', content: diff }]);
    expect(text.split('\n')).toHaveLength(1 + 16 + 1 + 1);
    expect(text).toContain('… 87 more lines');
  });
});

test('only new and completed entries of a plan are printed', () => {
  const entry = (content: string, status: string) => ({ content, priority: 'medium', status });
  const first: AnyEvent = ['plan', { entries: [entry('a', 'in_progress'), entry('b', 'pending')] }];
  const second: AnyEvent = ['plan', { entries: [entry('a', 'completed'), entry('b', 'in_progress')] }];
  expect(printed(first, second)).toBe('▸ a\n☐ b\n☑ a\n');
});

test('the reason is printed if a turn did not end normally', () => {
  expect(printed(['text', { text: 'x' }], ['turn.ended', { stopReason: 'cancelled' }])).toBe('x\ncancelled\n');
  expect(printed(['turn.ended', { stopReason: 'failed', reason: 'no key' }])).toBe('the turn failed: no key\n');
});

test('a queued prompt is printed when the agent gets it, or when its turn ends before', () => {
  const printer = new EventPrinter(bare);
  let seq = 0;
  const take = <T extends EventType>(turnId: string, type: T, data: EventData[T]) => {
    seq += 1;
    return printer.take({ seq, at: '2026-01-01T00:00:00.000Z', sessionId: 'S', turnId, type, data } as SessionEvent);
  };
  const content = (text: string) => ({ content: [{ type: 'text' as const, text }] });
  take('a', 'prompt', content('first'));
  take('a', 'turn.started', {});
  expect(take('b', 'prompt', content('second')) + take('c', 'prompt', content('third'))).toBe('');
  take('a', 'turn.ended', { stopReason: 'end_turn' });
  expect(take('b', 'turn.started', {})).toBe('\n› second\n');
  take('b', 'turn.ended', { stopReason: 'end_turn' });
  expect(take('c', 'turn.ended', { stopReason: 'cancelled' })).toBe('\n› third\ncancelled\n');
});
