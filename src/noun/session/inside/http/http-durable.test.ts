import { afterAll, beforeAll } from 'vitest';
import { sessionSuite } from '../../../../../test/conformance/session.ts';
import { type ServedSessions, serveForTest } from '../../../../../test/fixtures/session-client.ts';
import { TestSessions } from '../fake-sessions.ts';
import type { SandboxSessions } from '../sandbox-sessions.ts';

const test = new TestSessions();
let served: ServedSessions<SandboxSessions>;
beforeAll(async () => {
  served = await serveForTest(await test.open());
});
afterAll(async () => {
  await served.close();
  await test.remove();
});

sessionSuite(() => ({
  client: served.client,
  words: { say: (text) => `say ${text}`, ask: 'ask Really?', wait: 'hang' },
}));
