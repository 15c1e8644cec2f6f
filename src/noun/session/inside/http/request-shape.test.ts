import { expect, it } from 'vitest';
import * as daemon from '../../api.ts';
import { answerRequest, newFork, newSession, promptRequest } from './request-shape.ts';

const id = '01JD8Q4Z7W3V5T1N9R2B6C8D0E';
const block = { type: 'text', text: 'a' };
const bodies: readonly unknown[] = [
  ...[{}, [], 'x', null, { other: 1 }],
  ...[
    { sessionId: id },
    { sessionId: 'x' },
    { agent: '' },
    { agent: 'demo', title: 't' },
    { title: 'x'.repeat(201) },
    { mode: 5 },
  ],
  ...[
    { text: 'a' },
    { text: '' },
    { text: 'a', queue: true },
    { text: 'a', queue: 'yes' },
    { text: 'a', turnId: 'a/b' },
  ],
  ...[{ content: [block] }, { content: [] }, { content: [{ type: 'text' }] }, { content: [{ ...block, extra: 1 }] }],
  ...[{ optionId: 'yes' }, { optionId: 1 }, { content: { a: 1 } }, { cancel: true }, { cancel: 1 }],
];

function takes(shape: (value: unknown, path: []) => unknown, value: unknown): boolean {
  try {
    shape(value, []);
    return true;
  } catch {
    return false;
  }
}

/** The daemon's schemas do not say which fields exclude each other; this program does. */
it.each([
  ['a new session', newSession, daemon.sessionRequest, false],
  ['a fork', newFork, daemon.forkRequest, false],
  ['a prompt', promptRequest, daemon.promptRequest, true],
  ['an answer', answerRequest, daemon.answerRequest, true],
] as const)('the agent API accepts the body of %s only if the daemon accepts it', (_, shape, schema, isStricter) => {
  for (const body of bodies) {
    const [here, there] = [takes(shape, body), schema.safeParse(body).success];
    if (isStricter ? here && !there : here !== there) expect({ body, here, there }).toBe('the same');
  }
  expect(bodies.some((body) => takes(shape, body))).toBe(true);
});
