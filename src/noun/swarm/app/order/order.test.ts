import { describe, expect, test, vi } from 'vitest';
import { requireRoute } from '../../../agent/agent.ts';
import { checkAdapterSettings } from '../../../agent/model/agent.ts';
import { freshWork } from '../../model/swarm.ts';
import { addedGrants, agentOf, choiceAgain, type OrderParts, requestFor } from './order.ts';

const limits = { storySeconds: 60, stallSeconds: 60, taskSeconds: 60, silenceSeconds: 60, image: null };

function partsWith(
  secrets: readonly string[],
  credentials: Readonly<Record<string, readonly string[]>> = {},
): OrderParts {
  const added: Record<string, string[]> = {};
  return {
    config: { agents: { mine: mine }, swarm: limits },
    hasSecret: (name) => secrets.includes(name),
    credentialsFor: (preset) => [...(credentials[preset] ?? []), ...(added[preset] ?? [])],
    addCredential: (preset, secret) => {
      const name = `${preset} of ${secret}`;
      added[preset] = [name];
      return name;
    },
    hasProgram: (name) => name !== 'gone',
  };
}

const mine = { kind: 'command', command: ['mine'], key: { variable: 'MY_KEY', secret: 'MY_KEY' } } as const;
const parts = partsWith(['GEMINI_API_KEY'], { anthropic: ['mine', 'other'] });
const requested = (agent: string, sandbox: object = {}, given = parts) => requestFor('/p', { agent, sandbox }, given);

describe('the key of an agent', () => {
  test('is granted as an existing credential, in addition to the requested ones', () => {
    expect(requested('claude')).toMatchObject({ credentials: ['mine'], project: '/p', mode: 'overlay', stdin: true });
    expect(requested('claude', { credentials: ['github'] })).toMatchObject({ credentials: ['github', 'mine'] });
    expect(requested('claude', { credentials: ['other'] })).toMatchObject({ credentials: ['other'] });
    expect(requested('claude', { secrets: ['ANTHROPIC_API_KEY'] })).not.toHaveProperty('credentials');
  });

  test.each([
    ['claude', 'ANTHROPIC_API_KEY', 'anthropic'],
    ['codex', 'OPENAI_API_KEY', 'openai'],
    ['gemini', 'GEMINI_API_KEY', 'gemini'],
    ['opencode', 'OPENAI_API_KEY', 'openai'],
  ])('of %s in the secret %s is granted as a credential for %s', (agent, secret, preset) => {
    const request = requested(agent, { secrets: ['OTHER'] }, partsWith([secret]));
    expect(request).toMatchObject({ secrets: ['OTHER'], credentials: [`${preset} of ${secret}`] });
  });

  test('is granted for each service that the agent can use', () => {
    const request = requested('opencode', {}, partsWith(['ANTHROPIC_API_KEY', 'GEMINI_API_KEY'], { openai: ['work'] }));
    expect(request.credentials).toEqual(['anthropic of ANTHROPIC_API_KEY', 'work', 'gemini of GEMINI_API_KEY']);
  });

  test('is granted as the secret itself if no preset knows the service', () => {
    expect(requested('mine', {}, partsWith(['MY_KEY']))).toMatchObject({ secrets: ['MY_KEY'] });
  });

  test('is the token of an account if there is no key, or if the request has the token', () => {
    const token = 'CLAUDE_CODE_OAUTH_TOKEN';
    const keyOf = (request: ReturnType<typeof requested>) =>
      checkAdapterSettings(JSON.parse(request.command![1]!)).agent.key;
    const login = requested('claude', {}, partsWith([token]));
    expect(login.credentials).toEqual([`claude-login of ${token}`]);
    expect(keyOf(login)).toEqual({ variable: token, secret: token });
    const both = partsWith([token, 'ANTHROPIC_API_KEY'], { 'claude-login': ['mine'] });
    expect(requested('claude', {}, both).credentials).toEqual(['anthropic of ANTHROPIC_API_KEY']);
    expect(keyOf(requested('claude', {}, both))?.variable).toBe('ANTHROPIC_API_KEY');
    for (const has of [{ credentials: ['mine'] }, { secrets: [token] }, { env: { [token]: 'placeholder' } }]) {
      expect(requested('claude', has, both)).toMatchObject(has);
      expect(requested('claude', has, both).credentials).toEqual(has.credentials);
      expect(keyOf(requested('claude', has, both))?.variable).toBe(token);
    }
    for (const agent of ['codex', 'gemini'])
      expect(() => requested(agent, {}, partsWith(['CHATGPT_ACCESS_TOKEN', 'GEMINI_ACCESS_TOKEN']))).toThrow(
        'needs a key',
      );
  });

  test('that is missing causes a refusal with the command that stores it', () => {
    const nothing = partsWith([]);
    for (const [agent, secret] of [
      ['claude', 'ANTHROPIC_API_KEY'],
      ['codex', 'OPENAI_API_KEY'],
      ['gemini', 'GEMINI_API_KEY'],
      ['opencode', 'ANTHROPIC_API_KEY'],
      ['mine', 'MY_KEY'],
    ] as const) {
      expect(() => requested(agent, {}, nothing)).toThrow(
        expect.objectContaining({ code: 'not_found', hint: expect.stringContaining(`carrel secret set ${secret}`) }),
      );
    }
  });

  test('is not granted if the environment has a key or settings, or if the agent needs no key', () => {
    const nothing = partsWith([]);
    expect(requested('codex', { env: { OPENAI_API_KEY: 'placeholder' } }, nothing)).not.toHaveProperty('credentials');
    expect(requested('opencode', { env: { OPENCODE_CONFIG_CONTENT: '{}' } }, nothing)).not.toHaveProperty(
      'credentials',
    );
    expect(requested('demo', {}, nothing)).not.toHaveProperty('credentials');
  });
});

test('an agent whose program is missing is refused with the command that installs it', () => {
  const gone = { ...partsWith(['ANTHROPIC_API_KEY']), hasProgram: () => false };
  expect(() => requested('claude', {}, gone)).toThrow(
    expect.objectContaining({
      hint: expect.stringContaining('npm install -g --prefix /usr/local @anthropic-ai/claude-code'),
    }),
  );
  const uid = vi.spyOn(process, 'getuid').mockReturnValue(1000);
  expect(() => requested('claude', {}, gone)).toThrow(
    expect.objectContaining({ hint: expect.stringContaining(': sudo npm install -g') }),
  );
  uid.mockRestore();
  // Programs in an image, in another root filesystem or on another PATH are not checked.
  for (const sandbox of [{ engine: 'docker', image: 'x' }, { rootfs: '/r' }, { env: { PATH: '/workspace/bin' } }])
    expect(requested('claude', sandbox, gone)).toMatchObject(sandbox);
});

describe('the route to the service', () => {
  const route = (sandbox: object, allow: readonly string[], given = partsWith(['ANTHROPIC_API_KEY'])) =>
    requireRoute('claude', agentOf('claude', given.config), sandbox, allow, given);
  const secret = { secrets: ['ANTHROPIC_API_KEY'] };

  test('is open with a credential', () => {
    expect(() => route({ credentials: ['mine'] }, [], parts)).not.toThrow();
  });

  test('needs a rule without a credential, or the agent is refused with the rule that allows it', () => {
    expect(() => route(secret, ['api.anthropic.com'])).not.toThrow();
    for (const allow of [[], ['example.org'], ['api.anthropic.com:80']])
      expect(() => route(secret, allow)).toThrow(
        expect.objectContaining({
          code: 'denied',
          hint: expect.stringMatching(/Leave out --secret ANTHROPIC_API_KEY.*--network api\.anthropic\.com:443/),
        }),
      );
  });

  test('is open with the login of an account', () => {
    expect(() => route({ credentials: ['login'] }, [], partsWith([], { 'claude-login': ['login'] }))).not.toThrow();
    expect(() => route({ secrets: ['CLAUDE_CODE_OAUTH_TOKEN'] }, [])).toThrow(
      expect.objectContaining({ hint: expect.stringContaining('Leave out --secret CLAUDE_CODE_OAUTH_TOKEN') }),
    );
  });

  test('leads to the base URL, if one is set, and needs no rule to the loopback', () => {
    const at = (url: string) => ({ ...secret, env: { ANTHROPIC_BASE_URL: url } });
    expect(() => route(at('https://gateway.example.org/v1'), ['gateway.example.org'])).not.toThrow();
    expect(() => route(at('https://gateway.example.org/v1'), ['api.anthropic.com'])).toThrow('gateway.example.org');
    for (const inside of ['http://127.0.0.1:17010', 'http://localhost:8080'])
      expect(() => route(at(inside), [])).not.toThrow();
  });
});

test('the configured image is used on engines with images, unless the request names one', () => {
  const order = (sandbox: object) =>
    requestFor('/p', { sandbox }, { ...parts, config: { agents: {}, swarm: { ...limits, image: 'base' } } }).image;
  expect([{}, { engine: 'docker' }, { engine: 'docker', image: 'own' }].map(order)).toEqual([undefined, 'base', 'own']);
});

test('the adapter gets the agent, the author of commits, and the service that the agent needs', () => {
  const author = { name: 'Ada', email: 'ada@example.org' };
  const settings = (agent: string) =>
    checkAdapterSettings(JSON.parse(requestFor('/p', { agent, author }, parts).command![1]!));
  expect(settings('demo')).toMatchObject({ name: 'demo', author });
  expect(settings('demo').service).toBeUndefined();
  expect(settings('claude').service).toEqual({ place: 'api.anthropic.com:443', base: 'ANTHROPIC_BASE_URL' });
});

test('another attempt keeps the options of the previous attempt, except those in the new request', () => {
  const author = { name: 'Ada', email: 'ada@example.org' };
  const sandbox = { env: { A: '1' }, services: ['notes'], network: ['a.org'], limits: { cpus: 1 } };
  const request = requestFor('/p', { agent: 'claude', author, sandbox }, parts);
  const added = addedGrants({ sandbox }, request);
  const work = freshWork({ agent: 'claude', request: { ...request, name: 'x' }, added, stories: {} });
  expect(choiceAgain(work, {})).toEqual({ agent: 'claude', author, sandbox });
  expect(choiceAgain(work, { agent: 'codex', sandbox: { network: 'none', limits: { pids: 9 } } })).toEqual({
    ...{ agent: 'codex', author },
    sandbox: {
      env: { A: '1' },
      services: ['notes'],
      network: 'none',
      limits: { cpus: 1, pids: 9 },
    },
  });
});

describe('another attempt chooses the key of the agent again:', () => {
  const token = 'CLAUDE_CODE_OAUTH_TOKEN';
  const again = (before: OrderParts, now: OrderParts, choice: object = {}, order: object = {}) => {
    const request = requestFor('/p', choice, before);
    const added = addedGrants(choice, request);
    const work = freshWork({ agent: 'claude', request: { ...request, name: 'x' }, added, stories: {} });
    return requestFor('/p', choiceAgain(work, order), now).credentials;
  };

  test('a key that was stored since the last attempt is preferred to the login', () => {
    const both = partsWith(['ANTHROPIC_API_KEY', token], { 'claude-login': ['account'] });
    expect(again(partsWith([token]), both)).toEqual(['anthropic of ANTHROPIC_API_KEY']);
  });

  test('another agent does not get the login', () => {
    const now = partsWith([token, 'OPENAI_API_KEY'], { 'claude-login': ['account'] });
    expect(again(partsWith([token]), now, {}, { agent: 'codex' })).toEqual(['openai of OPENAI_API_KEY']);
    expect(() => again(partsWith([token]), partsWith([token]), {}, { agent: 'opencode' })).toThrow('needs a key');
  });

  test('a credential that the user requested is kept', () => {
    const known = partsWith(['ANTHROPIC_API_KEY', token], { 'claude-login': ['account'], anthropic: ['mine'] });
    expect(again(known, known, { sandbox: { credentials: ['account'] } })).toEqual(['account']);
  });
});
