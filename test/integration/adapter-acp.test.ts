/** ACP agents that ask, crash, flood and send garbage. They use the official library. */
import { resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AgentSpec } from '../../src/noun/agent/model/agent.ts';
import { AdapterBench, type AdapterRun } from '../harness/adapter.ts';

let bench: AdapterBench;
beforeEach(() => {
  bench = new AdapterBench();
});
afterEach(() => bench.dispose());

const agent: Extract<AgentSpec, { kind: 'acp' }> = {
  kind: 'acp',
  command: [process.execPath, resolve('test/fixtures/acp-agent.mjs')],
  permissions: { fetch: 'reject' },
};

function order(name: string, env: Record<string, string> = {}, spec = agent): Promise<AdapterRun> {
  bench.plan([{ does: `ORDER ${name}` }]);
  return bench.complete({ agent: spec }, env);
}

it('a request for permission is answered by the rule for that kind of tool', async () => {
  const run = await order('ask');
  expect(run.completion?.status).toBe('completed');
  expect(bench.show('answers')).toBe('execute allow_once\nfetch reject_once');
  expect(bench.outcome.stories['US-001']?.output).toBe('All done.');
});

it.each([
  ['a key', {}, 'some-api-key'],
  ['the method that was chosen', { authenticate: 'login' }, 'login'],
])('the adapter authenticates the agent by %s', async (_, choice, way) => {
  const run = await order('ask', { WAYS: 'login,some-api-key' }, { ...agent, ...choice });
  expect([run.completion?.status, bench.show('answers').split('\n')[0]]).toEqual(['completed', `by ${way}`]);
});

it.each([
  [',', 'offers no method'],
  ['login,browser', 'offers only login, browser'],
])('an agent that offers only the methods "%s" fails, since the adapter has no key for it', async (ways, said) => {
  const run = await order('ask', { WAYS: ways });
  expect(run.errors).toEqual([expect.stringMatching(`^MISSING_ENV_VAR US-001: .*${said}`)]);
});

it('unknown messages of an agent are ignored', async () => {
  const run = await order('garbage');
  expect([run.completion?.status, bench.outcome.stories['US-001']?.output]).toEqual(['completed', 'All done.']);
  expect(run.stderr()).not.toContain('session/update');
});

it.each([
  ['a method that the client does not have', 'unknown', '-32601'],
  ['a permission, in a shape of its own,', 'malformed', 'cancelled'],
])('an agent that requests %s gets an answer and continues', async (_, name, answer) => {
  const run = await order(name);
  expect([run.completion?.status, bench.show('answers')]).toEqual(['completed', answer]);
});

it.each([
  ['crash', 'AGENT_CRASH', 'ended with 9 before it finished its work'],
  ['flood', 'ACP_CONNECTION_LOST', 'the connection to the agent was lost: the agent sent a message of more than'],
  ['brackets', 'ACP_CONNECTION_LOST', 'the agent sent a message that is too large'],
])('the story of an agent that ends in a %s has failed with %s', async (name, code, reason) => {
  const run = await order(name);
  expect(run.errors).toEqual([expect.stringContaining(`${code} US-001: `)]);
  expect(run.completion?.errors).toEqual([expect.stringContaining(reason)]);
});

it('a story that the agent refuses fails, without an error of the adapter', async () => {
  const run = await order('refuse');
  expect([run.errors, run.completion?.errors]).toEqual([[], ['US-001: the agent stopped with refusal: All done.']]);
});
