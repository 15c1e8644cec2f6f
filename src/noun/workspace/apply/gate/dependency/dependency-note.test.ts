import { describe, expect, it, test } from 'vitest';
import { processorMs } from '../../../../../../test/harness/processor-time.ts';
import { dependencyNote } from './dependency-note.ts';

const bytes = (text: string | object) => Buffer.from(typeof text === 'string' ? text : JSON.stringify(text));
const note = (name: string, before: string | object | null, after: string | object) =>
  dependencyNote(name, before === null ? null : bytes(before), bytes(after));

const npm = (version: string, resolved: string, integrity = 'sha512-a') => ({
  packages: { '': { name: 'me' }, 'node_modules/x/node_modules/@s/a': { version, resolved, integrity } },
});
const registry = 'https://registry.npmjs.org/a.tgz';

describe('the note on a changed npm lockfile', () => {
  it.each([
    ['another version', npm('2.0.0', registry), 'changed @s/a 1.0.0 → 2.0.0'],
    [
      'another tarball',
      npm('1.0.0', 'https://u:p@evil.example:8443/a.tgz'),
      'changed @s/a 1.0.0 with other content; from a new place evil.example:8443',
    ],
    ['another hash', npm('1.0.0', registry, 'sha512-b'), 'changed @s/a 1.0.0 with other content'],
    ['a file', npm('1.0.0', 'file:../a.tgz'), 'changed @s/a 1.0.0 with other content; from a new place file:../a.tgz'],
    ['nothing left', { packages: {} }, 'removed @s/a'],
    [
      'a name twice',
      '{"packages":{"node_modules/@s/a":{"version":"1.0.0","version":"9.9.9"}}}',
      'changed @s/a 1.0.0 → 1.0.0 or 9.9.9',
    ],
  ])('%s', (_, now, expected) => {
    expect(note('package-lock.json', npm('1.0.0', registry), now)).toBe(expected);
    expect(note('npm-shrinkwrap.json', npm('1.0.0', registry), now)).toBe(expected);
  });

  it('reads nested dependencies, as npm wrote them before version 7', () => {
    const old = { dependencies: { a: { version: '1.0.0', dependencies: { b: { version: '1.0.0' } } } } };
    const now = { dependencies: { a: { version: '1.0.0', dependencies: { b: { version: '1.0.1' } } } } };
    expect(note('package-lock.json', old, now)).toBe('changed b 1.0.0 → 1.0.1');
  });
});

const yarn = (version: string, host: string) =>
  `# yarn lockfile v1\n\n\n"@s/a@^1.0.0", "@s/a@^1.1.0":\n  version "${version}"\n  resolved "https://${host}/a.tgz#0"\n`;
const berry = (version: string) =>
  `__metadata:\n  version: 8\n\n"a@npm:^1":\n  version: ${version}\n  resolution: "a@npm:${version}"\n`;
const pnpm = (version: string, more = '') =>
  `lockfileVersion: '9.0'\n\nimporters:\n  .:\n    dependencies: {}\n\npackages:\n\n  '@s/a@${version}':\n    resolution: {integrity: sha512-a${more}}\n\nsnapshots:\n\n  other@1.0.0: {}\n`;
const cargo = (version: string, source: string) =>
  `version = 4\n\n[[package]]\nname = "a"\nversion = "${version}"\nsource = "${source}"\n`;
const poetry = (hash: string) =>
  `[[package]]\nname = "a"\nversion = "1.0"\nfiles = [\n    {file = "a.whl", hash = "sha256:${hash}"},\n]\n\n[metadata]\n`;
const gems = (remote: string, version: string) =>
  `GEM\n  remote: ${remote}\n  specs:\n    a (${version})\n      b (>= 1)\n\nPLATFORMS\n  ruby\n`;

test.each<[string, string | object, string | object, string]>([
  [
    'yarn.lock',
    yarn('1.1.0', 'registry.yarnpkg.com'),
    yarn('1.2.0', 'evil.example'),
    'changed @s/a 1.1.0 → 1.2.0; from a new place evil.example',
  ],
  ['yarn.lock', berry('1.0.0'), berry('1.0.1'), 'changed a 1.0.0 → 1.0.1'],
  ['pnpm-lock.yaml', pnpm('1.0.0'), pnpm('1.0.1'), 'changed @s/a 1.0.0 → 1.0.1'],
  [
    'pnpm-lock.yaml',
    pnpm('1.0.0'),
    pnpm('1.0.0', ', tarball: https://evil.example/a.tgz'),
    'changed @s/a 1.0.0 with other content; from a new place evil.example',
  ],
  [
    'bun.lock',
    '{"packages":{"a":["a@1.0.0","",{},"sha512-a"],},}',
    '{\n// c\n"packages":{"a":["a@1.0.1","",{},"sha512-b"],},}',
    'changed a 1.0.0 → 1.0.1',
  ],
  [
    'cargo.lock',
    cargo('1.0.0', 'registry+https://github.com/rust-lang/crates.io-index'),
    cargo('1.0.0', 'git+https://evil.example/a#1'),
    'changed a 1.0.0 with other content; from a new place evil.example',
  ],
  ['uv.lock', cargo('1.0.0', 'x'), cargo('1.1.0', 'x'), 'changed a 1.0.0 → 1.1.0'],
  ['poetry.lock', poetry('a'), poetry('b'), 'changed a 1.0 with other content'],
  [
    'go.sum',
    'a.example/m v1.0.0 h1:a=\n',
    'a.example/m v1.0.0 h1:b=\nb.example/n v0.1.0/go.mod h1:c=\n',
    'added b.example/n v0.1.0; changed a.example/m v1.0.0 with other content',
  ],
  [
    'gemfile.lock',
    gems('https://rubygems.org/', '1.0'),
    gems('https://evil.example/', '1.0'),
    'changed a 1.0 with other content; from a new place evil.example',
  ],
  [
    'composer.lock',
    { packages: [{ name: 'v/a', version: '1' }] },
    { packages: [{ name: 'v/a', version: '2', dist: { url: 'https://evil.example/a.zip' } }] },
    'changed v/a 1 → 2; from a new place evil.example',
  ],
  [
    'rust-toolchain.toml',
    '[toolchain]\nchannel = "1.80"\n',
    '[toolchain]\npath = "tools/rust"\n',
    'now path = "tools/rust"; no more channel = "1.80"',
  ],
  ['.nvmrc', '20\n', '22\n', 'now 22; no more 20'],
])('%s: the note says what changed', (name, old, now, expected) => {
  expect(note(name, old, now)).toBe(expected);
});

test('the note names at most three packages, and says that a file was removed', () => {
  const many = {
    packages: Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`node_modules/p${n}`, { version: '1' }])),
  };
  expect(note('package-lock.json', null, many)).toBe('added p0 1, p1 1, p2 1, and 6 more');
  expect(dependencyNote('package-lock.json', bytes('{}'), null)).toBe('removed');
});

describe('any content gives one short line in bounded time', () => {
  const deep = `{"packages":${'{"a":'.repeat(100_000)}`;
  const long = 'a.'.repeat(2_000_000);
  it.each([
    ['nothing', ''],
    ['no lockfile', 'hello'],
    ['numbers', '[1,2,3]'],
    ['wrong types', '{"packages":[null,{"x":1}],"dependencies":"x"}'],
    ['depth', deep],
    ['one long word', long],
    ['one long string', JSON.stringify({ packages: { a: { version: long } } })],
    ['many addresses', JSON.stringify({ packages: { a: { resolved: 'x://'.repeat(500_000) } } })],
    ['spaces', `a@1:${' '.repeat(2_000_000)}x`],
    ['bytes', '\0\u0001'],
  ])('%s', (_, hostile) => {
    const start = processorMs();
    for (const name of [
      'package-lock.json',
      'bun.lock',
      'yarn.lock',
      'pnpm-lock.yaml',
      'cargo.lock',
      'go.sum',
      'gemfile.lock',
      'composer.lock',
      'pipfile.lock',
      'bun.lockb',
      '.nvmrc',
    ]) {
      const text = note(name, null, hostile);
      expect(text.length, name).toBeLessThanOrEqual(300);
      expect(text, name).not.toBe('');
    }
    expect(processorMs() - start).toBeLessThan(10_000);
  });
});
