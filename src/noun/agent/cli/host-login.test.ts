import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { libc } from '../../../lib/sys/libc.ts';
import type { Fault } from '../../../model/fault.ts';
import { terminalAgents } from '../model/table.ts';
import { findLogin, hasLogin } from './host-login.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const later = now + 3_600_000;
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'carrel-login-'));
});
afterEach(() => rmSync(home, { recursive: true }));

const files = { claude: '.claude/.credentials.json', codex: '.codex/auth.json', gemini: '.gemini/oauth_creds.json' };
type Agent = keyof typeof files;

function place(agent: Agent): string {
  const path = join(home, files[agent]);
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

function write(agent: Agent, content: unknown): void {
  writeFileSync(place(agent), typeof content === 'string' ? content : JSON.stringify(content));
}

function jwt(claims: object): string {
  return `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;
}

function chatgptToken(account: unknown = 'account-1', exp: unknown = later / 1000): string {
  return jwt({ exp, 'https://api.openai.com/auth': { chatgpt_account_id: account } });
}

function chatgpt(change: object = {}) {
  const tokens = { id_token: 'i', access_token: chatgptToken(), refresh_token: 'r', account_id: 'account-1' };
  return { auth_mode: 'chatgpt', OPENAI_API_KEY: null, tokens: { ...tokens, ...change } };
}

const claude = { claudeAiOauth: { accessToken: 'sk-ant-oat01-x', refreshToken: 'r', expiresAt: later } };
const gemini = { access_token: 'ya29.x', refresh_token: 'r', expiry_date: later };
const user = (env = {}) => ({ home, env });
const find = (agent: Agent) => findLogin(agent, user(), now);

function refusal(agent: string): Fault {
  try {
    findLogin(agent, user(), now);
  } catch (error) {
    return error as Fault;
  }
  throw new Error('the login is not refused');
}

describe('a login', () => {
  it('is the access token with its expiry, without the refresh token', () => {
    write('claude', claude);
    write('codex', chatgpt());
    write('gemini', gemini);
    const expiresAt = new Date(later);
    expect(find('claude')).toMatchObject({
      kind: { secret: 'CLAUDE_CODE_OAUTH_TOKEN' },
      value: 'sk-ant-oat01-x',
      expiresAt,
    });
    expect(find('codex')).toMatchObject({
      kind: { secret: 'CHATGPT_ACCESS_TOKEN' },
      value: chatgptToken(),
      expiresAt,
    });
    expect(find('gemini')).toMatchObject({ kind: { secret: 'GEMINI_ACCESS_TOKEN' }, value: 'ya29.x', expiresAt });
  });

  it.each([
    ['claude', 'CLAUDE_CONFIG_DIR', '.credentials.json', claude],
    ['codex', 'CODEX_HOME', 'auth.json', chatgpt()],
  ] as const)('of %s is read in the folder that %s names', (agent, variable, name, content) => {
    const folder = join(home, 'elsewhere');
    mkdirSync(folder);
    const elsewhere = user({ [variable]: folder });
    write(agent, content);
    expect(hasLogin(agent, elsewhere)).toBe(false);
    expect(() => findLogin(agent, elsewhere, now)).toThrow(`$${variable}/${name} has no login of ${agent}`);
    writeFileSync(join(folder, name), JSON.stringify(content));
    expect(findLogin(agent, elsewhere, now)).toEqual(find(agent));
  });

  it('is the API key for codex, unless codex uses an account', () => {
    write('codex', { ...chatgpt(), auth_mode: undefined, OPENAI_API_KEY: 'sk-x' });
    expect(find('codex')).toMatchObject({ kind: { secret: 'OPENAI_API_KEY' }, value: 'sk-x', expiresAt: null });
    write('codex', { ...chatgpt(), OPENAI_API_KEY: 'sk-x' });
    expect(find('codex')).toMatchObject({ kind: { secret: 'CHATGPT_ACCESS_TOKEN' } });
  });

  it('is found through a symbolic link', () => {
    writeFileSync(join(home, 'kept.json'), JSON.stringify(gemini));
    symlinkSync(join(home, 'kept.json'), place('gemini'));
    expect(find('gemini').value).toBe('ya29.x');
  });

  it.each(['soon', null, {}, Number.MAX_VALUE])('has no known expiry if the file has %j for it', (expiry) => {
    write('gemini', { ...gemini, expiry_date: expiry });
    expect(find('gemini').expiresAt).toBeNull();
    write('codex', chatgpt({ access_token: chatgptToken('account-1', expiry) }));
    expect(find('codex').expiresAt).toBeNull();
  });
});

describe('findLogin refuses', () => {
  it('an expired login, and says how to renew it', () => {
    write('claude', { claudeAiOauth: { ...claude.claudeAiOauth, expiresAt: now } });
    write('codex', chatgpt({ access_token: chatgptToken('account-1', now / 1000) }));
    write('gemini', { ...gemini, expiry_date: now - 1 });
    for (const agent of Object.keys(files)) {
      const { code, message, hint } = refusal(agent);
      expect([code, message]).toEqual(['not_ready', expect.stringMatching(/ expired at 20(25|26)-/)]);
      expect(hint).toBe(`Use ${agent} on this machine once, which renews its login; then: carrel agent login ${agent}`);
      expect(hasLogin(agent, user())).toBe(true);
    }
  });

  it.each([
    ['no file', undefined],
    ['no object', '7'],
    ['null', 'null'],
    ['a list', '[]'],
    ['other fields', '{"apiKey":"x"}'],
    ['a token that is no text', '{"access_token":{"a":1}}'],
    ['an empty token', '{"access_token":""}'],
  ])('a home with %s', (_, content) => {
    if (content !== undefined) write('gemini', content);
    const { code, message, hint } = refusal('gemini');
    expect([code, message]).toEqual([
      'not_found',
      '~/.gemini/oauth_creds.json has no login of gemini that can be added outside of a sandbox',
    ]);
    expect(hint).toMatch(/carrel agent login gemini\nUse a key: carrel secret set GEMINI_API_KEY$/);
    expect(hasLogin('gemini', user())).toBe(false);
  });

  it.each([
    ['no JSON', 'access_token=x', /is not JSON/],
    ['half a file', '{"access_token":"x', /is not JSON/],
    ['too many bytes', JSON.stringify({ access_token: 'x'.repeat(300_000) }), /has more than 262144 bytes/],
  ])('a file with %s', (_, content, why) => {
    write('gemini', content);
    expect(refusal('gemini')).toMatchObject({ code: 'invalid', message: expect.stringMatching(why) });
    expect(hasLogin('gemini', user())).toBe(false);
  });

  it('a folder and a FIFO, without waiting for a writer', () => {
    mkdirSync(place('gemini'));
    expect(refusal('gemini')).toMatchObject({ code: 'invalid', message: expect.stringContaining('not a regular') });
    libc('int mkfifo(const char *path, uint32_t mode)')(place('codex'), 0o600);
    expect(refusal('codex')).toMatchObject({ code: 'invalid', message: expect.stringContaining('not a regular') });
    expect([hasLogin('gemini', user()), hasLogin('codex', user())]).toEqual([false, false]);
  });

  it('a token of codex for another account than the file names, or for none', () => {
    for (const access_token of [chatgptToken('other'), chatgptToken(undefined), 'opaque']) {
      write('codex', chatgpt({ access_token, account_id: 'account-2' }));
      expect(refusal('codex')).toMatchObject({ code: 'invalid', message: expect.stringContaining('does not name') });
    }
  });

  it('a token that does not fit into a header, without showing it', () => {
    write('gemini', { ...gemini, access_token: 'ya29.x\r\nx-evil: 1' });
    expect(refusal('gemini')).toMatchObject({ code: 'invalid', message: expect.not.stringContaining('evil') });
  });

  it('an agent whose login cannot be added outside of a sandbox', () => {
    for (const agent of Object.keys(terminalAgents).filter((one) => !(one in files))) {
      expect(refusal(agent)).toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('cannot be added'),
      });
      expect(hasLogin(agent, user())).toBe(false);
    }
  });
});
