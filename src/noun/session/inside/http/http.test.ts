import { afterAll, beforeAll } from 'vitest';
import { sessionSuite } from '../../../../../test/conformance/session.ts';
import { type ServedSessions, serveForTest } from '../../../../../test/fixtures/session-client.ts';
import { FakeSessions } from '../fake.ts';
import type { Script } from '../fake-session.ts';

const options = ['yes', 'no'].map((id) => ({ id, name: id }));

/** An agent that does what the first word of the prompt says. */
const obedient: Script = async ({ text, say, ask, signal }) => {
  const [word, ...rest] = text.split(' ');
  if (word === 'say') say('text', { text: rest.join(' ') });
  if (word === 'ask')
    say('text', { text: JSON.stringify(await ask({ kind: 'permission', title: 'May I?', options })) });
  if (word === 'wait') await new Promise((resolve) => signal.addEventListener('abort', resolve));
  return 'end_turn';
};

let served: ServedSessions<FakeSessions>;
beforeAll(async () => {
  served = await serveForTest(new FakeSessions(obedient));
});
afterAll(() => served.close());

sessionSuite(() => ({
  client: served.client,
  words: { say: (text) => `say ${text}`, ask: 'ask', wait: 'wait' },
}));
