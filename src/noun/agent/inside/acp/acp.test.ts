import { describe, expect, test } from 'vitest';
import type { AcpSpec } from '../../model/agent.ts';
import { initialize, openAuthenticated, sessionIdIn } from './acp.ts';
import { RpcError } from './peer.ts';
import { answerPermission, permissionRequest, ruleFor } from './permission.ts';

const spec: AcpSpec = { kind: 'acp', command: ['x'], permissions: { fetch: 'reject', read: 'allow' } };
const options = ['reject_always', 'allow_always', 'allow_once', 'reject_once'].map((kind) => ({
  kind,
  optionId: kind,
}));
const answering = (answer: unknown) => ({ request: async () => answer });

describe('the answer to initialize', () => {
  test.each([
    [null, {}, []],
    [{ agentCapabilities: null, authMethods: 'key' }, {}, []],
    [{ authMethods: [null, 'key', { id: 1 }, { id: 'api-key' }] }, {}, [{ id: 'api-key' }]],
    [{ agentCapabilities: { loadSession: true }, authMethods: [] }, { loadSession: true }, []],
  ])('%j is read, whatever its shape', async (answer, can, authMethods) => {
    expect(await initialize(answering(answer))).toEqual({ can, authMethods });
  });
});

describe('a session', () => {
  const required = new RpcError(-32_000, 'log in');

  test('is opened again after the agent was authenticated', async () => {
    const calls: unknown[] = [];
    const request = async (...args: unknown[]) => void calls.push(args);
    const attempts = [Promise.reject(required), Promise.resolve('opened')];
    const agent = { can: {}, authMethods: [{ id: 'login' }, { id: 'api-key' }] };
    expect(await openAuthenticated({ request }, spec, agent, () => attempts.shift()!)).toBe('opened');
    expect(calls).toEqual([['authenticate', { methodId: 'api-key' }]]);
  });

  test('is not opened again after another error', async () => {
    const open = () => Promise.reject(new RpcError(-32_603, 'broken'));
    await expect(openAuthenticated(answering({}), spec, { can: {}, authMethods: [] }, open)).rejects.toThrow('broken');
  });

  test.each([null, undefined, {}, { sessionId: 1 }, { sessionId: 'x'.repeat(1000) }])(
    'without an id fails',
    (answer) => {
      expect(() => sessionIdIn(answer)).toThrow('without an id');
    },
  );
});

describe('a request for permission', () => {
  test.each([
    ['read', 'allow_once'],
    ['execute', 'allow_once'],
    ['fetch', 'reject_once'],
    ['something new', 'allow_once'],
  ])('for %s is answered with %s', (kind, optionId) => {
    expect(answerPermission(spec, kind, options)).toEqual({ outcome: 'selected', optionId });
  });

  test('is cancelled when no option matches the rule', () => {
    expect(answerPermission(spec, 'fetch', options.slice(1, 3))).toEqual({ outcome: 'cancelled' });
    expect(answerPermission(spec, 'read', [])).toEqual({ outcome: 'cancelled' });
  });

  test.each([
    [null, 'other', []],
    [{ toolCall: 1, options: {} }, 'other', []],
    [{ toolCall: { kind: 'read' }, options: [null, {}, { optionId: 'a' }] }, 'read', ['a']],
  ])('%j is read, whatever its shape', (params, kind, ids) => {
    const request = permissionRequest(params);
    expect([request.kind, request.options.map(({ optionId }) => optionId)]).toEqual([kind, ids]);
  });

  test.each(['__proto__', 'constructor', 'toString'])('for a tool of the kind %s has no rule', (kind) => {
    expect([ruleFor(spec, kind), answerPermission(spec, kind, [])]).toEqual([undefined, { outcome: 'cancelled' }]);
  });
});
