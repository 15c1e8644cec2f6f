/**
 * A credential: a secret that goes to one service as a header, added outside of the sandboxes that use it. Inside there
 * is only a base URL on loopback, and a placeholder if a tool requires a key.
 */
import { Fault } from '../../../model/fault.ts';
import { hostText, parseEndpoint, parseHost } from '../../../model/host.ts';
import { printable } from '../../../model/name.ts';
import { claimIn } from '../../agent/model/jwt.ts';

/** One host that the header goes to: over TLS, or over plain HTTP if the request for the credential had `http://`. */
export interface CredentialService {
  /** The host as `parseHost` writes it; an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** Left out: TLS. */
  readonly scheme?: 'http';
  /** The name of the header, in lower case. */
  readonly header: string;
  /** The value of the header, `{}` standing for the secret. */
  readonly format: string;
  /** For basic authentication: the user name, which is encoded in base64 together with the secret. */
  readonly basicUser?: string;
  /** Other headers in which the service accepts a key: those of a client are removed too. */
  readonly drops?: readonly string[];
  /** A second header with a claim of the secret, which is a JSON Web Token: the account that the token is for. */
  readonly claim?: { readonly header: string; readonly path: readonly string[] };
}

export const presetNames = [
  ...['anthropic', 'claude-login', 'openai', 'codex-login', 'gemini', 'gemini-login'],
  ...['github', 'copilot', 'npm'],
] as const;
export type PresetName = (typeof presetNames)[number];

/** Paths of requests; one with a slash at its end stands for all paths below it. */
export type Paths = readonly string[];

export interface Credential {
  readonly name: string;
  readonly preset: PresetName | null;
  /** The name of a secret of the same user. */
  readonly secret: string;
  /** The first one gets the base URL; all are reachable by their real names too. */
  readonly services: readonly [CredentialService, ...CredentialService[]];
  readonly createdAt: string;
}

/** A credential in the record of a sandbox. */
export interface CredentialGrant {
  readonly name: string;
  readonly preset: PresetName | null;
}

/** A request for a credential. */
export interface CredentialRequest {
  readonly name: string;
  readonly secret: string;
  readonly preset?: PresetName | undefined;
  readonly host?: string | undefined;
  readonly header?: string | undefined;
  readonly format?: string | undefined;
}

interface Preset {
  readonly services: Credential['services'];
  /** The only paths that requests may have: the host has more of the account than the sandbox needs. */
  readonly paths?: Paths;
  /** The variable that tools read the base URL from, if they have one. */
  readonly base: string;
  /** The variables that tools read, for a base URL without a slash at its end. */
  readonly env: (url: string) => Readonly<Record<string, string>>;
}

const httpsPort = 443;
const httpPort = 80;
const placeholder = 'carrel-placeholder';

/** The presets. Tools check the first letters of some keys, so placeholders begin like keys. */
const presets: { readonly [name in PresetName]: Preset } = {
  anthropic: {
    base: 'ANTHROPIC_BASE_URL',
    services: [
      https('api.anthropic.com', { header: 'x-api-key', format: '{}', drops: ['authorization', 'x-api-key'] }),
    ],
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: `sk-ant-${placeholder}` }),
  },
  /**
   * The token of a subscription, instead of a key. With other paths of that host it could start work outside of the
   * sandbox, and make keys that stay valid.
   */
  'claude-login': {
    base: 'ANTHROPIC_BASE_URL',
    services: [https('api.anthropic.com', { ...bearer(), drops: ['authorization', 'x-api-key'] })],
    paths: ['/v1/messages', '/v1/messages/count_tokens'],
    env: (url) => ({ ANTHROPIC_BASE_URL: url, CLAUDE_CODE_OAUTH_TOKEN: `sk-ant-oat01-${placeholder}` }),
  },
  openai: {
    base: 'OPENAI_BASE_URL',
    services: [https('api.openai.com', bearer())],
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: `sk-${placeholder}` }),
  },
  /** The token of a ChatGPT account. Below other paths of that host are the conversations and files of the account. */
  'codex-login': {
    base: 'CHATGPT_BASE_URL',
    services: [
      https('chatgpt.com', {
        ...bearer(),
        claim: { header: 'chatgpt-account-id', path: ['https://api.openai.com/auth', 'chatgpt_account_id'] },
      }),
    ],
    paths: ['/backend-api/codex/'],
    env: (url) => ({ CHATGPT_BASE_URL: `${url}/backend-api/codex`, CHATGPT_ACCESS_TOKEN: placeholder }),
  },
  gemini: {
    base: 'GOOGLE_GEMINI_BASE_URL',
    services: [https('generativelanguage.googleapis.com', { header: 'x-goog-api-key', format: '{}' })],
    env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: placeholder }),
  },
  /** The token of a Google account. */
  'gemini-login': {
    base: 'CODE_ASSIST_ENDPOINT',
    services: [https('cloudcode-pa.googleapis.com', bearer())],
    env: (url) => ({
      CODE_ASSIST_ENDPOINT: url,
      GOOGLE_GENAI_USE_GCA: 'true',
      GOOGLE_CLOUD_ACCESS_TOKEN: placeholder,
      GEMINI_DEFAULT_AUTH_TYPE: 'oauth-personal',
    }),
  },
  github: {
    base: 'GITHUB_API_URL',
    services: [
      https('api.github.com', bearer()),
      https('uploads.github.com', bearer()),
      https('github.com', { header: 'authorization', format: 'Basic {}', basicUser: 'x-access-token' }),
    ],
    env: (url) => ({ GITHUB_API_URL: url, GITHUB_TOKEN: placeholder, GH_TOKEN: placeholder }),
  },
  copilot: {
    base: 'COPILOT_API_URL',
    services: [
      https('api.githubcopilot.com', bearer()),
      https('api.individual.githubcopilot.com', bearer()),
      https('api.business.githubcopilot.com', bearer()),
      https('api.enterprise.githubcopilot.com', bearer()),
      https('api.github.com', bearer()),
    ],
    env: () => ({ COPILOT_GITHUB_TOKEN: `github_pat_${placeholder}` }),
  },
  npm: {
    base: 'npm_config_registry',
    services: [https('registry.npmjs.org', bearer())],
    env: (url) => ({
      npm_config_registry: `${url}/`,
      // To publish, npm requires a token for this registry.
      [`npm_config_${url.replace(/^http:/, '')}/:_authToken`]: placeholder,
    }),
  },
};

/** Undefined: requests may have any path. */
export function allowedPaths({ preset }: Pick<Credential, 'preset'>): Paths | undefined {
  return preset === null ? undefined : presets[preset].paths;
}

function https(host: string, rest: Omit<CredentialService, 'host' | 'port'>): CredentialService {
  return { host, port: httpsPort, ...rest };
}

function bearer() {
  return { header: 'authorization', format: 'Bearer {}' };
}

/** Well-known services, by the names that their tools use for the secret. */
const keyPresets: Readonly<Record<string, PresetName>> = {
  ANTHROPIC_API_KEY: 'anthropic',
  OPENAI_API_KEY: 'openai',
  GEMINI_API_KEY: 'gemini',
  CLAUDE_CODE_OAUTH_TOKEN: 'claude-login',
  CHATGPT_ACCESS_TOKEN: 'codex-login',
  GEMINI_ACCESS_TOKEN: 'gemini-login',
  COPILOT_GITHUB_TOKEN: 'copilot',
};

export function presetOfKey(secret: string): PresetName | null {
  return Object.hasOwn(keyPresets, secret) ? keyPresets[secret]! : null;
}

/** The host of a preset, and the variable that can replace it. */
export function presetRoute(preset: PresetName): Pick<CredentialService, 'host' | 'port'> & { readonly base: string } {
  const { services, base } = presets[preset];
  return { host: services[0].host, port: services[0].port, base };
}

type Place = Pick<CredentialService, 'host' | 'port'> & { readonly scheme?: 'http' | undefined };

/** HOST, or HOST:PORT for an unusual port. */
export function serviceText({ host, port, scheme }: Place): string {
  const text = hostText(parseHost(host));
  return port === (scheme === 'http' ? httpPort : httpsPort) ? text : `${text}:${port}`;
}

/** The variables that are set inside for a credential: those of its preset, or `NAME_BASE_URL`. */
export function credentialEnv({ name, preset }: CredentialGrant, url: string): Readonly<Record<string, string>> {
  if (preset !== null) return presets[preset].env(url);
  return { [`${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_BASE_URL`]: url };
}

/** The number of credentials that one sandbox can have. */
export const maxCredentials = 20;

export const credentialNamePattern = /^[a-z][a-z0-9_.-]{0,62}$/;

export function checkCredentialName(name: string): string {
  if (credentialNamePattern.test(name)) return name;
  throw new Fault('invalid', `${printable(name)} is not a name for a credential`, {
    hint: 'Use 1 to 63 of a-z, 0-9, "_", "." and "-", starting with a letter.',
  });
}

/** The services of a requested credential. The caller checks the secret itself. */
export function servicesOf({ preset, host, header, format }: CredentialRequest): Credential['services'] {
  const known = preset === undefined ? null : presets[preset].services;
  if (known !== null && host === undefined && header === undefined && format === undefined) return known;
  const base = known?.[0];
  const where = host === undefined ? base && { host: base.host, port: base.port } : parseService(host);
  const name = header ?? base?.header;
  if (where === undefined || name === undefined) throw incomplete(where === undefined ? '--host' : '--header');
  const { drops, claim } = base ?? {};
  return [
    {
      ...{ ...where, header: checkHeader(name), format: checkFormat(format ?? base?.format ?? '{}') },
      ...(drops === undefined ? {} : { drops }),
      ...(claim === undefined ? {} : { claim }),
    },
  ];
}

function incomplete(option: string): Fault {
  return new Fault('invalid', `a credential needs ${option}, or --preset`, {
    hint: `Such as: carrel credential add NAME --host api.example.org --header authorization --secret SECRET --format "Bearer {}"; presets: ${presetNames.join(', ')}`,
  });
}

/** Uses plain HTTP only if the text says so: the key goes over the network unencrypted. */
function parseService(text: string): Pick<CredentialService, 'host' | 'port' | 'scheme'> {
  const [, scheme, place] = /^(?:(https?):\/\/)?([^/]*)\/?$/.exec(text) ?? [];
  if (place === undefined) {
    throw new Fault('invalid', `${printable(text)} is not a host`, {
      hint: 'Write HOST or HOST:PORT, or http://HOST:PORT for a gateway without TLS, and no path.',
    });
  }
  const { host, port } = parseEndpoint(place, scheme === 'http' ? httpPort : httpsPort);
  return { host: host.text, port, ...(scheme === 'http' ? { scheme } : {}) };
}

/** Headers about the transfer of a request cannot carry a credential. */
const reserved =
  /^(host|content-.*|transfer-encoding|connection|upgrade|te|trailer|keep-alive|expect|date|via|proxy-.*|sec-.*)$/;

function checkHeader(text: string): string {
  const name = text.toLowerCase();
  if (/^[a-z0-9!#$%&'*+.^`|~-]{1,64}$/.test(name) && !reserved.test(name)) return name;
  throw new Fault('invalid', `--header: ${printable(text)} cannot carry a credential`, {
    hint: 'Name a header such as authorization or x-api-key.',
  });
}

function checkFormat(text: string): string {
  const isOne = text.split('{}').length === 2;
  if (isOne && text.length <= 256 && isHeaderText(text)) return text;
  throw new Fault('invalid', `--format: ${printable(text)} does not say where the secret goes`, {
    hint: 'Write one {} where its value goes, such as "Bearer {}", in plain letters.',
  });
}

/** Whether every server parses the text alike: no control characters, no space at either end. */
function isHeaderText(text: string): boolean {
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

const maxValueLength = 8192;

/**
 * The value of the header for a secret, without a newline at its end. A value that could end the header, or that servers
 * parse differently, is refused; the message does not contain it.
 */
export function headerValue(
  service: Pick<CredentialService, 'format' | 'basicUser'>,
  secret: string,
  value: Uint8Array,
): string {
  const text = Buffer.from(value)
    .toString('latin1')
    .replace(/\r?\n$/, '');
  if (!isHeaderText(text) || text.length > maxValueLength) {
    throw new Fault('invalid', `the secret ${secret} cannot be the value of a header`, {
      hint: `A header has one line of at most ${maxValueLength} plain letters, digits and signs.`,
    });
  }
  const { format, basicUser } = service;
  const token = basicUser === undefined ? text : Buffer.from(`${basicUser}:${text}`).toString('base64');
  return format.split('{}').join(token);
}

/** The header with a claim of the secret; null: the service has none, or the secret has no such claim. */
export function claimHeader({ claim }: Pick<CredentialService, 'claim'>, value: Uint8Array): [string, string] | null {
  if (claim === undefined) return null;
  const claimValue = claimIn(Buffer.from(value).toString('latin1').trim(), claim.path);
  return typeof claimValue === 'string' && isHeaderText(claimValue) && claimValue.length <= maxValueLength
    ? [claim.header, claimValue]
    : null;
}

/** Throws if two credentials are for the same host or set the same variable inside. */
export function checkTogether(credentials: readonly Credential[]): void {
  const takenBy = new Map<string, string>();
  for (const credential of credentials) {
    const hosts = credential.services.map(serviceText);
    for (const place of [...hosts, ...Object.keys(credentialEnv(credential, ''))]) {
      const other = takenBy.get(place);
      if (other !== undefined) {
        throw new Fault('conflict', `${other} and ${credential.name} are both for ${place}`, {
          hint: 'Give one of them.',
        });
      }
      takenBy.set(place, credential.name);
    }
  }
}
