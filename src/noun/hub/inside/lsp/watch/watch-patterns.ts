/** The files whose changes a server wants, as it registered them with `client/registerCapability`. */
import { fileURLToPath } from 'node:url';

const method = 'workspace/didChangeWatchedFiles';
const maxPatterns = 5000;
const maxPatternLength = 2000;

export class WatchPatterns {
  readonly #patterns = new Map<string, readonly RegExp[]>();

  get isEmpty(): boolean {
    return this.#patterns.size === 0;
  }

  /** `path`: absolute. */
  wants(path: string): boolean {
    return [...this.#patterns.values()].some((patterns) => patterns.some((pattern) => pattern.test(path)));
  }

  /** A server may send anything: entries of an unknown shape are left out. */
  register(params: unknown, root: string): void {
    for (const one of itemsOf(params, 'registrations')) {
      const { id, registerOptions } = one as { id?: unknown; registerOptions?: unknown };
      if (one.method !== method || this.#patterns.size >= maxPatterns) continue;
      const patterns = itemsOf(registerOptions, 'watchers').slice(0, maxPatterns);
      this.#patterns.set(
        String(id),
        patterns.flatMap(({ globPattern }) => patternOf(globPattern, root)),
      );
    }
  }

  unregister(params: unknown): void {
    // The name of the field is misspelt in the protocol.
    for (const { id } of itemsOf(params, 'unregisterations')) this.#patterns.delete(String(id));
  }
}

function itemsOf(value: unknown, field: string): Record<string, unknown>[] {
  const items = (value as Record<string, unknown> | null)?.[field];
  return Array.isArray(items) ? items.filter((item) => typeof item === 'object' && item !== null) : [];
}

function patternOf(given: unknown, root: string): RegExp[] {
  if (typeof given === 'string') return glob(given.startsWith('/') ? given : `${root}/${given}`);
  const { baseUri, pattern } = (given ?? {}) as { baseUri?: unknown; pattern?: unknown };
  if (typeof pattern !== 'string') return [];
  const uri = typeof baseUri === 'string' ? baseUri : (baseUri as { uri?: unknown } | null)?.uri;
  try {
    return glob(`${fileURLToPath(String(uri)).replace(/\/$/, '')}/${pattern}`);
  } catch {
    return [];
  }
}

const parts = /\*\*\/|\*\*|[*?{},]|\[!?[^\]/]+\]|[^*?{},[]+|\[/g;
const meanings: Readonly<Record<string, string>> = {
  '**/': '(?:[^/]+/)*',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
  '{': '(?:',
  '}': ')',
};

/** Converts a pattern of the protocol: `*`, `?`, `**`, `{a,b}` and `[a-z]`. Empty: it cannot be parsed. */
function glob(pattern: string): RegExp[] {
  if (pattern.length > maxPatternLength) return [];
  const found = pattern.replaceAll(/(\*\*\/)+/g, '**/').match(parts) ?? [];
  let depth = 0;
  const source = found.map((part) => {
    depth += part === '{' ? 1 : part === '}' ? -1 : 0;
    if (part === ',') return depth > 0 ? '|' : ',';
    if (part.length > 1 && part.startsWith('[')) return part.replace(/^\[!/, '[^').replaceAll('\\', '\\\\');
    return meanings[part] ?? part.replace(/[.+^$()|[\]\\]/g, '\\$&');
  });
  try {
    return [new RegExp(`^${source.join('')}$`)];
  } catch {
    return [];
  }
}
