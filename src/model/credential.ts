/**
 * A credential: a secret that goes to one service as a header, added outside of the sandboxes that were given it. Inside
 * there is a base URL on loopback, and a placeholder where a tool insists on a key; the value is never there.
 */
import { Fault } from './fault.ts';
import { hostText, parseEndpoint, parseHost } from './host.ts';
import { printable } from './name.ts';

/** One host that the header goes to, always over TLS. */
export interface Service {
  /** As `parseHost` writes it; an address without brackets. */
  readonly host: string;
  readonly port: number;
  /** In small letters. */
  readonly header: string;
  /** The value of the header, `{}` standing for the secret. */
  readonly format: string;
  /** With this name before it, in base64, as HTTP's basic authentication has it. */
  readonly basicUser?: string;
  /** Other headers that carry a key there: what a client says in them does not reach it either. */
  readonly drops?: readonly string[];
}

export const presetNames = ['anthropic', 'openai', 'gemini', 'github', 'npm'] as const;
export type PresetName = (typeof presetNames)[number];

export interface Credential {
  readonly name: string;
  readonly preset: PresetName | null;
  /** The name of a secret of the same user. */
  readonly secret: string;
  /** The first one has the base URL; all are reached by their real names, too. */
  readonly services: readonly [Service, ...Service[]];
  readonly createdAt: string;
}

/** What a sandbox was given, as its record keeps it. */
export interface CredentialGrant {
  readonly name: string;
  readonly preset: PresetName | null;
}

/** As somebody asks for one. */
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
  /** The variable that tools read the base URL from, where they have one. */
  readonly base: string;
  /** What tools look for, given a base URL without a slash at its end. */
  readonly env: (url: string) => Readonly<Record<string, string>>;
}

const httpsPort = 443;
const placeholder = 'carrel-placeholder';

/** Tools check the first letters of some keys. */
const presets: { readonly [name in PresetName]: Preset } = {
  anthropic: {
    base: 'ANTHROPIC_BASE_URL',
    services: [
      https('api.anthropic.com', { header: 'x-api-key', format: '{}', drops: ['authorization', 'x-api-key'] }),
    ],
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: `sk-ant-${placeholder}` }),
  },
  openai: {
    base: 'OPENAI_BASE_URL',
    services: [https('api.openai.com', bearer())],
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: `sk-${placeholder}` }),
  },
  gemini: {
    base: 'GOOGLE_GEMINI_BASE_URL',
    services: [https('generativelanguage.googleapis.com', { header: 'x-goog-api-key', format: '{}' })],
    env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: placeholder }),
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
  npm: {
    base: 'npm_config_registry',
    services: [https('registry.npmjs.org', bearer())],
    env: (url) => ({
      npm_config_registry: `${url}/`,
      // To publish, npm wants to see a token for that very registry.
      [`npm_config_${url.replace(/^http:/, '')}/:_authToken`]: placeholder,
    }),
  },
};

function https(host: string, rest: Omit<Service, 'host' | 'port'>): Service {
  return { host, port: httpsPort, ...rest };
}

function bearer() {
  return { header: 'authorization', format: 'Bearer {}' };
}

/** Secrets whose service everybody knows, by the names that their tools give them. */
const keyPresets: Readonly<Record<string, PresetName>> = {
  ANTHROPIC_API_KEY: 'anthropic',
  OPENAI_API_KEY: 'openai',
  GEMINI_API_KEY: 'gemini',
};

export function presetOfKey(secret: string): PresetName | null {
  return Object.hasOwn(keyPresets, secret) ? keyPresets[secret]! : null;
}

/** Where the requests of a preset go first, and the variable that can send them elsewhere. */
export function presetRoute(preset: PresetName): Pick<Service, 'host' | 'port'> & { readonly base: string } {
  const { services, base } = presets[preset];
  return { host: services[0].host, port: services[0].port, base };
}

/** HOST, or HOST:PORT where that is not the usual one. */
export function serviceText({ host, port }: Pick<Service, 'host' | 'port'>): string {
  const text = hostText(parseHost(host));
  return port === httpsPort ? text : `${text}:${port}`;
}

/** What is set inside for a credential: by its preset, or `NAME_BASE_URL`. */
export function credentialEnv({ name, preset }: CredentialGrant, url: string): Readonly<Record<string, string>> {
  if (preset !== null) return presets[preset].env(url);
  return { [`${name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_BASE_URL`]: url };
}

/** That one sandbox can be given. */
export const maxCredentials = 20;

export const credentialNamePattern = /^[a-z][a-z0-9_.-]{0,62}$/;

export function checkCredentialName(name: string): string {
  if (credentialNamePattern.test(name)) return name;
  throw new Fault('invalid', `${printable(name)} is not a name for a credential`, {
    hint: 'Use 1 to 63 of a-z, 0-9, "_", "." and "-", starting with a letter.',
  });
}

/** What of a request says where the secret goes; the secret itself is the caller's to look at. */
export function servicesOf({ preset, host, header, format }: CredentialRequest): Credential['services'] {
  const known = preset === undefined ? null : presets[preset].services;
  if (known !== null && host === undefined && header === undefined && format === undefined) return known;
  const base = known?.[0];
  const where = host === undefined ? base && { host: base.host, port: base.port } : parseService(host);
  const name = header ?? base?.header;
  if (where === undefined || name === undefined) throw incomplete(where === undefined ? '--host' : '--header');
  const drops = base?.drops ? { drops: base.drops } : {};
  return [{ ...where, header: checkHeader(name), format: checkFormat(format ?? base?.format ?? '{}'), ...drops }];
}

function incomplete(option: string): Fault {
  return new Fault('invalid', `a credential needs ${option}, or --preset`, {
    hint: `Such as: carrel credential add NAME --host api.example.org --header authorization --secret SECRET --format "Bearer {}"; presets: ${presetNames.join(', ')}`,
  });
}

function parseService(text: string): Pick<Service, 'host' | 'port'> {
  if (text.includes('://'))
    throw new Fault('invalid', `${printable(text)} is a URL`, { hint: 'Write HOST or HOST:PORT.' });
  const { host, port } = parseEndpoint(text, httpsPort);
  return { host: host.text, port };
}

/** Those that say how a request is carried are not a credential's to set. */
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

/** What every server reads alike: no control characters, no space at either end. */
function isHeaderText(text: string): boolean {
  return /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text);
}

const maxValueLength = 8192;

/**
 * The value of the header for a secret, less a newline at its end. What could be taken for the end of the header, or is
 * understood differently by different servers, is refused; the message does not tell the value.
 */
export function headerValue(service: Pick<Service, 'format' | 'basicUser'>, secret: string, value: Uint8Array): string {
  const text = Buffer.from(value)
    .toString('latin1')
    .replace(/\r?\n$/, '');
  if (!isHeaderText(text) || text.length > maxValueLength) {
    throw new Fault('invalid', `the secret ${secret} cannot be the value of a header`, {
      hint: `A header has one line of at most ${maxValueLength} plain letters, digits and signs.`,
    });
  }
  const { format, basicUser } = service;
  const said = basicUser === undefined ? text : Buffer.from(`${basicUser}:${text}`).toString('base64');
  return format.split('{}').join(said);
}

/** Two that would answer to the same name inside cannot both be given. */
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
