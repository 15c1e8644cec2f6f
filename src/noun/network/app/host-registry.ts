/**
 * Registries that the owner's own npm, pip and cargo use, by their configuration files. Only hosts are taken from these files: no
 * token, no user name and no path of an address leaves this module.
 */
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Actor } from '../../../model/user.ts';
import { canonicalRule } from '../model/network.ts';
import type { NetworkPresets } from '../model/preset.ts';

export interface HostRegistry {
  readonly preset: string;
  readonly rule: string;
  readonly file: string;
}

interface Tool {
  readonly preset: string;
  readonly files: readonly string[];
  /** The first group is a list of addresses. */
  readonly setting: RegExp;
}

const tools: readonly Tool[] = [
  {
    preset: 'npm',
    files: ['.npmrc', '/etc/npmrc', '/usr/local/etc/npmrc'],
    setting: /^[ \t]*(?:@[^\s:=]+:)?registry[ \t]*=[ \t]*(.+)$/gm,
  },
  {
    preset: 'pypi',
    files: ['.config/pip/pip.conf', '.pip/pip.conf', '/etc/pip.conf'],
    setting: /^[ \t]*(?:extra[-_])?index[-_]url[ \t]*[=:][ \t]*(.*(?:\n[ \t]+\S.*)*)$/gm,
  },
  {
    preset: 'crates',
    files: ['.cargo/config.toml', '.cargo/config'],
    setting: /^[ \t]*(?:index|registry)[ \t]*=[ \t]*(["'].+)$/gm,
  },
];

const maxBytes = 256 * 1024;

export function hostRegistries(home: string = homedir()): HostRegistry[] {
  return tools.flatMap(({ preset, files, setting }) =>
    files
      .map((name) => (name.startsWith('/') ? name : join(home, name)))
      .flatMap((file) => rulesIn(textOf(file), setting).map((rule) => ({ preset, rule, file }))),
  );
}

/** A file that is absent or cannot be read names nothing. */
function textOf(file: string): string {
  try {
    return statSync(file).size > maxBytes ? '' : readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export function rulesIn(text: string, setting: RegExp): string[] {
  const addresses = [...text.matchAll(setting)].flatMap(([, list = '']) => list.split(/[\s"',]+/));
  return [...new Set(addresses.flatMap(ruleOf))];
}

function ruleOf(address: string): string[] {
  try {
    const { protocol, hostname, port } = new URL(address.replace(/^sparse\+/, ''));
    if (protocol !== 'https:' && protocol !== 'http:') return [];
    return [canonicalRule(port === '' ? hostname : `${hostname}:${port}`)];
  } catch {
    return [];
  }
}

/** Only the owner's presets have the names of the owner's registries. */
export function presetsFor(
  { isOwner }: Actor,
  { presets, ownPresets }: { readonly presets: NetworkPresets; readonly ownPresets: readonly string[] },
): NetworkPresets {
  return isOwner ? withRegistries(presets, ownPresets, hostRegistries()) : presets;
}

/** `own`: presets that config.yaml defines, which stay as they are. */
export function withRegistries(
  presets: NetworkPresets,
  own: readonly string[],
  registries: readonly HostRegistry[],
): NetworkPresets {
  const added = (name: string) =>
    registries.filter(({ preset }) => (name === 'dev' || preset === name) && !own.includes(preset));
  return Object.fromEntries(
    Object.entries(presets).map(([name, hosts]) => {
      const more = own.includes(name) ? [] : added(name).map(({ rule }) => rule);
      return [name, [...new Set([...hosts, ...more])]];
    }),
  );
}
