/** `isQuiet` says when a campaign against sessions stops waiting for events. */
import { describe, expect, test } from 'vitest';
import type { SessionEvent } from '../src/noun/session/model/session.ts';
import { SessionFold } from '../src/noun/session/model/session-fold.ts';
import { isQuiet } from './harness/session.ts';

type Step = 'prompt 1' | 'prompt 2' | 'turn.started 1' | 'turn.ended 1' | 'question 1' | 'answer 1' | 'session.note';

function foldOf(...steps: readonly Step[]): SessionFold {
  const fold = new SessionFold();
  for (const [at, step] of steps.entries()) {
    const [type, turnId] = step.split(' ');
    const question = { pendingId: 'q', kind: 'permission', title: 'May I?', text: '' };
    const data = { content: [], stopReason: 'end_turn', ...question };
    fold.take({ seq: at + 1, at: '', sessionId: 's', turnId, type, data } as unknown as SessionEvent);
  }
  return fold;
}

describe('a session is quiet', () => {
  test('if it has no turn', () => {
    expect(isQuiet(foldOf('prompt 1', 'turn.started 1'))).toBe(false);
    expect(isQuiet(foldOf('prompt 1', 'turn.started 1', 'turn.ended 1'))).toBe(true);
    expect(isQuiet(foldOf('prompt 1', 'turn.started 1', 'turn.ended 1', 'session.note'))).toBe(true);
    expect(isQuiet(foldOf('prompt 1', 'turn.started 1', 'turn.ended 1', 'prompt 2'))).toBe(false);
  });

  test('if it waits for a person, even if another prompt came after the question', () => {
    expect(isQuiet(foldOf('prompt 1', 'turn.started 1', 'question 1'))).toBe(true);
    expect(isQuiet(foldOf('prompt 1', 'turn.started 1', 'question 1', 'prompt 2'))).toBe(true);
    expect(isQuiet(foldOf('prompt 1', 'turn.started 1', 'question 1', 'prompt 2', 'answer 1'))).toBe(false);
  });

  test('unless a turn with a question has ended and a prompt follows', () => {
    expect(isQuiet(foldOf('prompt 1', 'turn.started 1', 'question 1', 'prompt 2', 'turn.ended 1'))).toBe(false);
  });
});
