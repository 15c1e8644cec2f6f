import { describe, expect, it } from 'vitest';
import {
  type Credential,
  type CredentialRequest,
  checkCredentialName,
  checkTogether,
  claimHeader,
  credentialEnv,
  headerValue,
  presetNames,
  servicesOf,
} from './credential.ts';

const ask = { name: 'x', secret: 'KEY' };
const custom = { ...ask, host: 'api.example.org', header: 'X-Key' };

describe('the services of a credential', () => {
  it('have the requested host, port and header in canonical spelling', () => {
    expect(servicesOf({ ...custom, host: 'API.Example.org:8443', format: 'Token {}!' })).toEqual([
      { host: 'api.example.org', port: 8443, header: 'x-key', format: 'Token {}!' },
    ]);
    expect(servicesOf(custom)).toEqual([{ host: 'api.example.org', port: 443, header: 'x-key', format: '{}' }]);
    expect(servicesOf({ ...custom, host: '[::1]:99' })[0]).toMatchObject({ host: '::1', port: 99 });
    expect(servicesOf({ ...custom, host: '10.0.0.1' })[0]).toMatchObject({ host: '10.0.0.1', port: 443 });
  });

  it('are defined for each preset, over https, with one place for the secret in the format', () => {
    for (const preset of presetNames) {
      const services = servicesOf({ ...ask, preset });
      for (const { host, port, format } of services)
        expect([host, port, format.split('{}')]).toEqual([
          expect.stringMatching(/^[a-z.-]+\.(com|org)$/),
          443,
          expect.objectContaining({ length: 2 }),
        ]);
    }
    expect(servicesOf({ ...ask, preset: 'github' }).map(({ host }) => host)).toContain('github.com');
  });

  it('are those of the preset, except for options in the request', () => {
    expect(servicesOf({ ...ask, preset: 'anthropic', host: 'localhost:4433' })).toEqual([
      { host: 'localhost', port: 4433, header: 'x-api-key', format: '{}', drops: ['authorization', 'x-api-key'] },
    ]);
  });

  it('are reached without TLS only if the host is an http URL', () => {
    const at = (host: string) => servicesOf({ ...ask, preset: 'openai', host })[0];
    expect(at('http://gateway.local:4000')).toMatchObject({ host: 'gateway.local', port: 4000, scheme: 'http' });
    expect(at('http://10.0.0.7/')).toMatchObject({ host: '10.0.0.7', port: 80, scheme: 'http' });
    expect(at('https://a.org')).toEqual(at('a.org'));
    expect(at('a.org:80')).not.toHaveProperty('scheme');
  });

  const isRefused = (change: Partial<CredentialRequest>) =>
    expect(() => servicesOf({ ...custom, ...change })).toThrow(expect.objectContaining({ code: 'invalid' }));
  const names = (text: string) => text.split(' ');

  it.each(['host', 'header'])('are refused without a %s', (what) => isRefused({ [what]: undefined }));

  it.each([
    ...['', 'a b', 'a\0.org', `${'a'.repeat(64)}.org`, '[::1%eth0]'],
    ...names(
      '-a.org a-.org a..b .a https://a.org/x a.org/x ftp://a.org http:// http:a.org u@a.org a.org:0 a.org:65536 a.org:1x a%00.org',
    ),
    ...names('[a.org] [1.2.3.4] 1.2.3 0x7f.1 127.1 2130706433'),
  ])('are refused with the host %j', (host) => isRefused({ host }));

  it.each([
    ...['', 'a b', 'a\nb', 'a\0', 'x'.repeat(65)],
    ...names('a:b é Host content-length Transfer-Encoding connection proxy-authorization'),
  ])('are refused with the header %j', (header) => isRefused({ header }));

  it.each(['', 'Bearer', '{}{}', '{} {}', 'a\r\nb: {}', ' {}', '{} ', 'é{}', '{}\0', `{}${'x'.repeat(256)}`])(
    'are refused with the format %j',
    (format) => isRefused({ format }),
  );
});

describe('the value of a header', () => {
  const value = (text: string, format = 'Bearer {}') => headerValue({ format }, 'KEY', Buffer.from(text, 'latin1'));

  it('contains the secret once, without a newline at its end', () => {
    expect(value('s3cret')).toBe('Bearer s3cret');
    expect(value('s3cret\n')).toBe('Bearer s3cret');
    expect(value('s3cret\r\n')).toBe('Bearer s3cret');
    expect(value('a{}b$&')).toBe('Bearer a{}b$&');
    expect(headerValue({ format: 'Basic {}', basicUser: 'me' }, 'KEY', Buffer.from('pass'))).toBe('Basic bWU6cGFzcw==');
  });

  it.each([
    '',
    '\n',
    'a\nb',
    'a\r\nX-Evil: 1',
    'a\rb',
    'a\0b',
    'a\tb',
    ' a',
    'a ',
    'a\n\n',
    'é',
    '\x7f',
    'x'.repeat(8193),
  ])('is refused: %j', (text) => {
    expect(() => value(text)).toThrow(/the secret KEY cannot be the value of a header/);
  });

  it('is refused if it is longer than servers accept', () => {
    expect(value('x'.repeat(8192))).toHaveLength(8199);
    expect(() => value('x'.repeat(8193))).toThrow(/at most|cannot be/);
  });

  it('is not part of the error message', () => {
    expect(() => value('hunter2\nx')).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
    );
  });
});

describe('the header with a claim of the secret', () => {
  const claim = { header: 'x-account', path: ['account'] };
  const header = (account: unknown) =>
    claimHeader({ claim }, Buffer.from(`e30.${Buffer.from(JSON.stringify({ account })).toString('base64url')}.c2ln\n`));

  it('has the claim', () => {
    expect(header('a1')).toEqual(['x-account', 'a1']);
    expect(claimHeader({}, Buffer.from('e30.e30.e30'))).toBeNull();
  });

  it.each(['', 'a\r\nx-evil: 1', ' a', 7, null, { a: 1 }, 'x'.repeat(8193)])('is left out for %j', (account) =>
    expect(header(account)).toBeNull(),
  );
});

it('credentialEnv sets the variables that tools read', () => {
  const env = (preset: (typeof presetNames)[number] | null, name = 'x') =>
    credentialEnv({ name, preset }, 'http://h:1');
  expect(env('anthropic')).toEqual({
    ANTHROPIC_BASE_URL: 'http://h:1',
    ANTHROPIC_API_KEY: 'sk-ant-carrel-placeholder',
  });
  expect(env('openai').OPENAI_BASE_URL).toBe('http://h:1/v1');
  expect(env('codex-login').CHATGPT_BASE_URL).toBe('http://h:1/backend-api/codex');
  expect(env('gemini-login')).toMatchObject({ CODE_ASSIST_ENDPOINT: 'http://h:1', GOOGLE_GENAI_USE_GCA: 'true' });
  expect(env('npm')).toEqual({
    npm_config_registry: 'http://h:1/',
    'npm_config_//h:1/:_authToken': 'carrel-placeholder',
  });
  expect(env(null, 'my-jira.x')).toEqual({ MY_JIRA_X_BASE_URL: 'http://h:1' });
});

it('checkTogether refuses two credentials for the same host or variable', () => {
  const of = (name: string, request: object): Credential => ({
    ...{ name, preset: null, secret: 'KEY', createdAt: '' },
    services: servicesOf({ ...custom, ...request }),
  });
  checkTogether([of('a', {}), of('b', { host: 'b.org' }), of('c', { host: 'b.org:444' })]);
  expect(() => checkTogether([of('a', {}), of('b', {})])).toThrow(/a and b are both for api.example.org/);
  expect(() => checkTogether([of('a-b', {}), of('a.b', { host: 'b.org' })])).toThrow(/A_B_BASE_URL/);
});

it('checkCredentialName accepts only names that are fit for a command line', () => {
  expect(checkCredentialName('a.b-c_1')).toBe('a.b-c_1');
  for (const name of ['', '1a', 'A', 'a b', '-a', '../a', 'a\n', 'x'.repeat(64)])
    expect(() => checkCredentialName(name)).toThrow(/is not a name/);
});
