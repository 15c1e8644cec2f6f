/**
 * Logins of the machine: the real agents use the token of an account, which the proxy adds outside; the model is
 * scripted.
 */
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TestAuthority } from '../fixtures/service.ts';
import { TextModel } from '../fixtures/text-model.ts';
import { Installation } from '../harness/installation.ts';
import { carrelOn, type Terminal } from '../harness/terminal.ts';

const authority = new TestAuthority('127.0.0.1');
const refresh = 'refresh-0123456789';
const expires = Date.parse('2100-01-01T00:00:00Z');
let carrel: Installation;
let project: string;

beforeAll(() => {
  carrel = new Installation();
  project = carrel.folder('project');
  carrel.write('project/README', 'A project.\n');
  carrel.write('home/ca.pem', authority.certificate);
  appendFileSync(join(carrel.home, 'config.yaml'), `authorities: [${join(carrel.home, 'ca.pem')}]\n`);
});
afterAll(() => carrel.dispose());

function on(...args: string[]): Terminal {
  const path = [resolve('test/clients/node_modules/.bin'), process.env.PATH].join(':');
  return carrelOn(carrel.home, args, { cwd: project, env: { PATH: path } });
}

const login = (agent: string) => carrel.process(['agent', 'login', agent]);

function keep(file: string, content: unknown): void {
  mkdirSync(join(carrel.home, dirname(file)), { recursive: true });
  carrel.write(`home/${file}`, JSON.stringify(content));
}

/** Makes a token in the format of OpenAI; tokens differ in their mark. */
function chatgptToken(mark: string): string {
  const auth = { chatgpt_account_id: 'account-1', chatgpt_plan_type: 'plus' };
  const claims = { exp: expires / 1000, jti: mark, 'https://api.openai.com/auth': auth };
  return ['{}', JSON.stringify(claims), mark].map((part) => Buffer.from(part).toString('base64url')).join('.');
}

const logins = {
  codex: {
    file: '.codex/auth.json',
    secret: 'CHATGPT_ACCESS_TOKEN',
    prompt: /OpenAI Codex/,
    waits: /It is well.*Ask Codex to do anything/s,
    token: chatgptToken,
    content: (token: string) => ({
      ...{ auth_mode: 'chatgpt', OPENAI_API_KEY: null },
      tokens: { id_token: token, access_token: token, refresh_token: refresh, account_id: 'account-1' },
    }),
    says: /^it expires at 2100-01-01T00:00:00.000Z\n/m,
    asked: { path: '/backend-api/codex/responses', headers: { 'chatgpt-account-id': 'account-1' } },
  },
  gemini: {
    file: '.gemini/oauth_creds.json',
    secret: 'GEMINI_ACCESS_TOKEN',
    prompt: /Type your message/,
    waits: /It is well.*Type your message/s,
    token: (mark: string) => `ya29.${mark}-0123456789`,
    content: (token: string) => ({ access_token: token, refresh_token: refresh, expiry_date: expires }),
    says: /^it expires at 2100-01-01T00:00:00.000Z; such a token lives about an hour\n/m,
    asked: { path: '/v1internal:streamGenerateContent', headers: {} },
  },
} as const;

describe.each(['codex', 'gemini'] as const)('%s with an account', (agent) => {
  const { file, secret, prompt, waits, token, content, says, asked } = logins[agent];
  const box = `project-${agent}`;
  let model: TextModel;

  const bearer = (mark: string) => `Bearer ${token(mark)}`;
  /** The request with this prompt and this token that the model received. */
  const received = (words: string, mark: string) =>
    model.requests
      .filter(({ path, body }) => path === asked.path && body.includes(words))
      .find(({ headers }) => headers.authorization === bearer(mark));

  beforeAll(async () => {
    const wants = { header: 'authorization', value: [bearer('first'), bearer('second')] };
    model = await TextModel.open('It is well.', { tls: authority.tls('127.0.0.1'), wants });
  });
  afterAll(() => model.dispose());
  afterEach(() => rmSync(join(carrel.home, dirname(file)), { recursive: true, force: true }));

  it('offers the login if this machine has one, before a sandbox is created', async () => {
    const without = on(agent);
    expect(await without.ended).toBe(5);
    expect(without.text).toMatch(/cannot start yet without its key/);
    expect(without.text).not.toContain('agent login');
    keep(file, content(token('first')));
    const having = on(agent);
    expect(await having.ended).toBe(5);
    expect(having.shown).toMatch(
      new RegExp(
        `^ {2}hint: enter its key: +carrel secret set \\S+\n {8}or use your login: +carrel agent login ${agent}$`,
        'm',
      ),
    );
    expect(await carrel.ok('ls', '-q')).toBe('');
  });

  it('works with the token, which the proxy adds outside, and continues with a renewed one', async () => {
    keep(file, content(token('first')));
    const { stdout } = await login(agent);
    expect(stdout).toMatch(new RegExp(`^kept as the secret ${secret}; it is added to requests outside of sandboxes`));
    expect(stdout).toMatch(says);
    expect(stdout).toMatch(new RegExp(`^Use ${agent} on this machine once, .* carrel agent login ${agent}\n$`, 'm'));
    const to = ['--preset', `${agent}-login`, '--host', `127.0.0.1:${model.port}`];
    await carrel.ok('credential', 'add', 'login', '--secret', secret, ...to);

    const terminal = on(agent);
    await terminal.shows(prompt);
    await terminal.ask('Tell me.', () => received('Tell me.', 'first') !== undefined);
    await terminal.shows(waits);
    expect(received('Tell me.', 'first')).toMatchObject(asked);

    keep(file, content(token('second')));
    expect((await login(agent)).exitCode).toBe(0);
    await terminal.ask('Tell me more.', () => received('Tell me more.', 'second') !== undefined);
    terminal.type('\x10\x11');
    expect(await terminal.ended).toBe(0);

    if (agent === 'codex') await onlyCodex();
    const inside = await carrel.ok('exec', '-T', box, '--', 'sh', '-c', everything);
    expect(inside).toMatch(/carrel-placeholder.*--(yolo|dangerously).*A project\./s);
    for (const hidden of [token('first'), token('second'), refresh, 'account-1']) expect(inside).not.toContain(hidden);
    await carrel.ok('rm', '--force', box);
    await carrel.ok('credential', 'rm', 'login');
    await carrel.ok('secret', 'rm', secret);
  }, 120_000);
});

/** The credential opens only the path of codex, no other path of the account. */
async function onlyCodex(): Promise<void> {
  const others = 'curl -sS $' + '{CHATGPT_BASE_URL%/codex}/conversations';
  expect(await carrel.ok('exec', '-T', 'project-codex', '--', 'sh', '-c', others)).toContain(
    'this credential is for 127.0.0.1/backend-api/codex/ alone, not for other paths',
  );
}

/** The environment and the arguments of all processes, and all files that a sandbox has of its own. */
const everything =
  'cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline; find ~ /run /tmp /.data /workspace -type f -exec cat {} + 2>/dev/null; true';

it('agent login keeps the API key of codex as a secret', async () => {
  keep('.codex/auth.json', { OPENAI_API_KEY: 'sk-real', tokens: { access_token: 'no' } });
  expect(await login('codex')).toMatchObject({
    exitCode: 0,
    stdout: 'kept as the secret OPENAI_API_KEY; it is added to requests outside of sandboxes, never inside\n',
  });
  await carrel.ok('secret', 'rm', 'OPENAI_API_KEY');
});

it('agent login refuses a login that has expired or that cannot be added outside, and keeps no secret', async () => {
  keep('.codex/auth.json', { OPENAI_API_KEY: null, tokens: null });
  keep('.gemini/oauth_creds.json', {
    access_token: 'ya29.old',
    refresh_token: refresh,
    expiry_date: 1_700_000_000_000,
  });
  for (const [agent, exitCode, message, hint] of [
    ['codex', 5, '~/.codex/auth.json has no login of codex that can be added outside', 'secret set OPENAI_API_KEY'],
    ['gemini', 6, 'the login of gemini in ~/.gemini/oauth_creds.json expired at 2023-11-14', 'agent login gemini'],
    ['copilot', 3, 'the login of copilot cannot be added outside of a sandbox', 'secret set COPILOT_GITHUB_TOKEN'],
  ] as const)
    expect(await login(agent)).toMatchObject({
      exitCode,
      stderr: expect.stringMatching(new RegExp(`^carrel: ${message}[^]*carrel ${hint}\n$`)),
    });
  expect(await login('cluade')).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('There are claude, ') });
  expect(await carrel.ok('secret', 'ls')).not.toMatch(/OPENAI|GEMINI|COPILOT|CHATGPT/);
});
