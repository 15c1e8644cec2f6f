import { describe, expect, it } from 'vitest';
import { sessionEvent } from './event.ts';
import type { EventType, SessionEvent } from './session.ts';
import { SessionFold } from './session-fold.ts';

const id = '01JD8Q4Z7W3V5T1N9R2B6C8D0E';

/** Folds events that are given by type, data and turn, after the checks for events of an untrusted writer. */
function folded(...events: readonly [EventType, object, string?][]): SessionFold {
  const fold = new SessionFold();
  for (const [index, [type, data, turnId]] of events.entries()) {
    const at = `2026-11-16T16:40:12.0${10 + index}Z`;
    const event = { seq: index + 1, at, sessionId: id, ...(turnId === undefined ? {} : { turnId }), type, data };
    fold.take(sessionEvent(event as unknown as SessionEvent, []));
  }
  return fold;
}

const created: [EventType, object] = ['session.created', { agent: 'demo', cwd: '/workspace' }];
const prompt: [EventType, object, string] = ['prompt', { content: [{ type: 'text', text: 'hi' }] }, 't1'];
const question: [EventType, object, string] = [
  'question',
  { pendingId: 'p1', kind: 'permission', title: 'Write a.ts', options: [{ id: 'yes', name: 'Allow' }] },
  't1',
];

describe('a session', () => {
  it('changes its state from idle to working, waiting, and idle again', () => {
    expect(folded(created).state).toBe('idle');
    expect(folded(created, prompt).state).toBe('working');
    const waiting = folded(created, prompt, ['turn.started', {}, 't1'], question);
    expect(waiting).toMatchObject({ state: 'waiting', questions: [{ pendingId: 'p1', turnId: 't1' }] });
    const answered: [EventType, object, string] = ['answer', { pendingId: 'p1', optionId: 'yes' }, 't1'];
    const ended: [EventType, object, string] = ['turn.ended', { stopReason: 'end_turn' }, 't1'];
    const over = folded(created, prompt, question, answered, ended);
    expect(over).toMatchObject({ state: 'idle', questions: [], turns: [], lastEnd: { stopReason: 'end_turn' } });
    expect(over.answerTo('p1')).toEqual({ pendingId: 'p1', optionId: 'yes' });
    expect(over.knows('t1')).toBe(true);
  });

  it('that failed works again with the next prompt', () => {
    const failed: [EventType, object] = ['session.failed', { reason: 'no key' }];
    expect(folded(created, failed)).toMatchObject({ state: 'failed', failure: 'no key' });
    expect(folded(created, failed, prompt).state).toBe('working');
    const queued: [EventType, object, string] = [prompt[0], prompt[1], 't2'];
    const end: [EventType, object, string] = ['turn.ended', { stopReason: 'failed' }, 't1'];
    const next: [EventType, object, string][] = [
      ['turn.started', {}, 't2'],
      ['turn.ended', { stopReason: 'end_turn' }, 't2'],
    ];
    expect(folded(created, prompt, queued, failed, end, ...next)).toMatchObject({ state: 'idle', failure: null });
  });

  it('has messages whose pieces are joined and whose tool calls change in place', () => {
    const fold = folded(
      created,
      prompt,
      ['text', { text: 'I wi' }, 't1'],
      ['text', { text: 'll.' }, 't1'],
      ['tool', { toolCallId: 'c1', title: 'Write', status: 'pending' }, 't1'],
      question,
      ['answer', { pendingId: 'p1', optionId: 'yes' }, 't1'],
      ['tool', { toolCallId: 'c1', status: 'completed' }, 't1'],
      ['session.note', { text: 'The agent was started again.' }],
    );
    expect(fold.messages).toEqual([
      { id: 'm2', role: 'user', parts: [{ type: 'text', text: 'hi' }], createdAt: expect.any(String) as string },
      {
        ...{ id: 'm3', role: 'assistant', createdAt: expect.any(String) as string },
        parts: [
          { type: 'text', text: 'I will.' },
          { type: 'tool', toolCallId: 'c1', title: 'Write', status: 'completed' },
          { type: 'question', ...(question[1] as object), answer: { pendingId: 'p1', optionId: 'yes' } },
        ],
      },
      {
        ...{ id: 'm9', role: 'system', createdAt: expect.any(String) as string },
        parts: [{ type: 'text', text: 'The agent was started again.' }],
      },
    ]);
  });

  it('has separate messages of the agent for each turn, even if the next prompt was queued meanwhile', () => {
    const blocks = (text: string): readonly { type: 'text'; text: string }[] => [{ type: 'text', text }];
    const fold = folded(
      ['prompt', { content: blocks('one') }, 't1'],
      ['text', { text: 'Fi' }, 't1'],
      ['prompt', { content: blocks('two') }, 't2'],
      ['text', { text: 'rst' }, 't1'],
      ['turn.ended', { stopReason: 'end_turn' }, 't1'],
      ['text', { text: 'Second' }, 't2'],
    );
    expect(fold.messages.map(({ parts }) => parts)).toEqual([
      blocks('one'),
      blocks('First'),
      blocks('two'),
      blocks('Second'),
    ]);
  });
});

describe('an event', () => {
  const good = { seq: 1, at: '2026-11-16T16:40:12.010Z', sessionId: id, type: 'text', data: { text: 'a' } };

  it.each<[string, object]>([
    ['seq', { seq: 0 }],
    ['type', { type: 'constructor' }],
    ['data.text', { data: { text: 1 } }],
    ['data.extra', { data: { text: 'a', extra: 1 } }],
    ['sessionId', { sessionId: '../x' }],
    ['extra', { extra: 1 }],
  ])('with a wrong %s is refused', (where, change) => {
    expect(() => sessionEvent({ ...good, ...change }, [])).toThrow(where);
  });
});
