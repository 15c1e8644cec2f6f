import { expect, test } from 'vitest';
import { type OrderParts, requestFor } from './swarm-order.ts';

const limits = { storySeconds: 60, stallSeconds: 60, taskSeconds: 60, silenceSeconds: 60, image: null };
const parts: OrderParts = {
  config: { agents: {}, swarm: limits },
  hasSecret: (name) => name === 'GEMINI_API_KEY',
  credentialsFor: (preset) => (preset === 'anthropic' ? ['mine', 'theirs'] : []),
};
const asked = (agent: string, sandbox: object = {}) => requestFor('/p', { agent, sandbox }, parts);

test('an agent gets its key besides what is asked for: rather a credential, else the secret', () => {
  expect(asked('claude')).toMatchObject({ credentials: ['mine'] });
  expect(asked('claude', { credentials: ['github'] })).toMatchObject({ credentials: ['github', 'mine'] });
  expect(asked('claude', { credentials: ['theirs'] })).toMatchObject({ credentials: ['theirs'] });
  expect(asked('claude', { secrets: ['ANTHROPIC_API_KEY'] })).not.toHaveProperty('credentials');
  expect(asked('gemini', { secrets: ['OTHER'] })).toMatchObject({ secrets: ['OTHER', 'GEMINI_API_KEY'] });
  expect(asked('codex')).toMatchObject({ project: '/p', mode: 'overlay', stdin: true });
});

test('the image of the configuration is for engines that have images, and for who names none', () => {
  const order = (sandbox: object) =>
    requestFor('/p', { sandbox }, { ...parts, config: { agents: {}, swarm: { ...limits, image: 'base' } } }).image;
  expect([{}, { engine: 'docker' }, { engine: 'docker', image: 'own' }].map(order)).toEqual([undefined, 'base', 'own']);
});

test('the adapter is told who the agent is and whose the commits are', () => {
  const author = { name: 'Ada', email: 'ada@example.org' };
  const [, settings] = requestFor('/p', { agent: 'demo', author }, parts).command!;
  expect(JSON.parse(settings!)).toMatchObject({ name: 'demo', author });
});
