import { describe, expect, it } from 'vitest';
import { fromText } from '../../../../model/byte-path.ts';
import type { Entry, GateKind } from '../../model/change.ts';
import { gatesOf, verdictOf } from './gate.ts';
import type { GateContext } from './gate-context.ts';
import { LinkNames } from './link/link-names.ts';

const plain: Entry = { type: 'file', mode: 0o644, sizeBytes: 1, target: null };
const program: Entry = { ...plain, mode: 0o755 };
const link = (target: string): Entry => ({ type: 'link', mode: 0, sizeBytes: 0, target: fromText(target) });

function gates(path: string, before: Entry | null, after: Entry | null, old = '', now = ''): GateKind[] {
  const content = { before: () => Buffer.from(old), after: () => Buffer.from(now) };
  return gatesOf({ path: fromText(path), before, after }, content);
}

describe('gates that depend on the content of a file', () => {
  const scripts = '{"scripts":{"test":"x"},"version":"1"}';
  it.each([
    ['other keys', scripts, '{"version":"2","scripts":{"test":"x"}}', []],
    ['a script', scripts, '{"scripts":{"test":"y"}}', ['scripts']],
    ['a new bin', scripts, '{"scripts":{"test":"x"},"bin":"a"}', ['scripts']],
    ['hooks', scripts, '{"scripts":{"test":"x"},"simple-git-hooks":{}}', ['scripts']],
    ['a package manager', scripts, '{"scripts":{"test":"x"},"packageManager":"pnpm@9"}', ['scripts']],
    ['whose builds run', scripts, '{"scripts":{"test":"x"},"pnpm":{"onlyBuiltDependencies":["x"]}}', ['scripts']],
    ['builds that bun runs', scripts, '{"scripts":{"test":"x"},"trustedDependencies":["x"]}', ['scripts']],
    ['scripts twice, the first another', scripts, '{"scripts":{"test":"y"},"scripts":{"test":"x"}}', ['scripts']],
    ['scripts twice, the last another', scripts, '{"scripts":{"test":"x"},"scripts":{"test":"y"}}', ['scripts']],
    ['a script twice', scripts, '{"scripts":{"test":"y","test":"x"}}', ['scripts']],
    ['scripts in another spelling', scripts, '{"scripts":{"test":"x"},"scr\\u0069pts":{"test":"y"}}', ['scripts']],
    [
      'dependencies twice',
      scripts,
      '{"scripts":{"test":"x"},"dependencies":{"a":"./a"},"dependencies":{}}',
      ['scripts'],
    ],
    ['a package of the workspace', scripts, '{"scripts":{"test":"x"},"workspaces":["fixtures/x"]}', ['scripts']],
    ['a comment', scripts, '{"scripts":{"test":"x"} /* , */}', ['scripts']],
    ['nesting without end', scripts, `{"a":${'['.repeat(1e5)}`, ['scripts']],
    ['no JSON', scripts, '{', ['scripts']],
    ['no object', scripts, '3', ['scripts']],
  ])('package.json: %s', (_, old, now, expected) => {
    expect(gates('a/package.json', plain, plain, old, now)).toEqual(expected);
  });

  it.each([
    ['1.2.3', []],
    ['^1.0.0 || >=2 <3', []],
    ['latest', []],
    ['npm:@scope/other@^1', []],
    ['workspace:*', []],
    ['git+ssh://git@host/x.git', ['scripts']],
    ['https://host/x.tgz', ['scripts']],
    ['file:../x', ['scripts']],
    ['link:../x', ['scripts']],
    ['owner/name', ['scripts']],
    ['github:owner/name#main', ['scripts']],
    ['./x', ['scripts']],
    ['.x', ['scripts']],
    ['..', ['scripts']],
    ['x.tgz', ['scripts']],
    ['x-1.0.0.TAR.gz', ['scripts']],
    ['x.tar', ['scripts']],
    ['..\\x', ['scripts']],
    ['patch:x@1#./p', ['scripts']],
    ['exec:./x.js', ['scripts']],
  ])('package.json: a dependency on %s', (range, expected) => {
    const now = (key: string, value: unknown) => JSON.stringify({ ...JSON.parse(scripts), [key]: value });
    for (const key of ['dependencies', 'devDependencies', 'optionalDependencies', 'resolutions'])
      expect(gates('package.json', plain, plain, scripts, now(key, { x: range }))).toEqual(expected);
    expect(gates('package.json', plain, plain, scripts, now('overrides', { a: { x: range } }))).toEqual(expected);
    const old = now('dependencies', { x: range });
    expect(gates('package.json', plain, plain, old, now('dependencies', { x: range, y: '1' }))).toEqual([]);
  });

  it('package.json is gated if it is added or removed with scripts, or cannot be read', () => {
    expect(gates('package.json', null, plain, '', '{}')).toEqual([]);
    expect(gates('package.json', null, plain, '', scripts)).toEqual(['scripts']);
    expect(gates('package.json', plain, null, scripts)).toEqual(['scripts']);
    const nothing = { before: () => null, after: () => null };
    expect(gatesOf({ path: 'package.json', before: plain, after: plain }, nothing)).toEqual(['scripts']);
  });

  it('a name that occurs twice and stays unchanged is not gated', () => {
    const twice = '{"scripts":{"test":"y"},"scripts":{"test":"x"},"version":"1"}';
    expect(gates('package.json', plain, plain, twice, twice.replace('"1"', '"2"'))).toEqual([]);
  });

  it.each([
    ['a requirement', 'require a v1\n', 'require a v2\n', []],
    ['a toolchain', '', 'toolchain go1.99\n', ['dependencies']],
    ['a replaced module', '', 'replace a => ../b\n', ['dependencies']],
    ['a tool', '', 'tool (\n\ta/b\n)\n', ['dependencies']],
  ])('go.mod: %s', (_, old, now, expected) => {
    expect(gates('go.mod', plain, plain, old, now)).toEqual(expected);
  });

  it.each([
    ['text', '', '* text=auto\n*.c diff merge=union\n', []],
    ['a filter', '', '* text\n*.x filter=evil\n', ['attributes']],
    ['a filter that was there', 'a filter=lfs\n', 'a filter=lfs\nb text\n', []],
    ['a filter for more', 'a filter=lfs\n', 'a filter=lfs\nb filter=lfs\n', ['attributes']],
    ['a filter that goes', 'a filter=crypt\n', '', ['attributes']],
    ['a macro', '', '[attr]m diff=pdf\n', ['attributes']],
  ])('.gitattributes: %s', (_, old, now, expected) => {
    expect(gates('.gitattributes', plain, plain, old, now)).toEqual(expected);
    expect(gates('.git/info/attributes', plain, plain, old, now)).toEqual(expected);
  });

  it('HEAD and config of a repository that is not called .git are gated', () => {
    expect(gates('x/HEAD', null, plain, '', 'ref: refs/heads/main\n')).toEqual(['git-config']);
    expect(gates('x/config', null, plain, '', '[core]\n\tfsmonitor = evil\n')).toEqual(['git-config']);
    expect(gates('x/config', null, plain, '', 'a: b\n')).toEqual([]);
  });
});

describe('gates that depend on the mode or the target of a link', () => {
  it('a new executable bit is gated', () => {
    expect(gates('run', plain, program)).toEqual(['executable']);
    expect(gates('run', null, { ...plain, mode: 0o654 })).toEqual(['executable']);
    expect(gates('run', program, { ...program, mode: 0o700 })).toEqual([]);
    expect(gates('run', program, null)).toEqual([]);
    expect(gates('run', link('x'), program)).toEqual(['executable']);
  });

  it.each([
    ['l', 'a/b', []],
    ['d/l', '../a', []],
    ['d/l', '../../a', ['symlink']],
    ['l', '..', ['symlink']],
    ['l', '/etc/passwd', ['symlink']],
    ['d/l', './x/../../y', ['symlink']],
    ['d/l', 'x/../y', ['symlink']],
    ['l', '.git/hooks', ['symlink']],
    ['d/l', '../.GIT', ['symlink']],
    ['l', '.', []],
  ])('the link %s to %s is gated if it leads out of the project or into .git', (path, target, expected) => {
    expect(gates(path, null, link(target))).toEqual(expected);
  });
});

describe('gates that depend on links and git settings of the project', () => {
  const gateContext = (links: Record<string, string>, hooks: string[] = []): GateContext => {
    const names = new LinkNames({
      root: '/home/me/project',
      links: new Map(Object.entries(links)),
      added: new Map(),
      changed: new Set(),
      named: hooks.map((path) => ['.git/hooks', path]),
      outside: () => null,
      whole: true,
    });
    return { namesOf: (plain) => names.namesOf(plain), linkAt: (path) => links[path] ?? null };
  };
  const led = (path: string, target: string, links: Record<string, string>) =>
    gatesOf({ path, before: null, after: link(target) }, { before: () => null, after: () => null }, gateContext(links));

  it('a link that leads out through another link is gated', () => {
    const links = {
      vendor: '/opt/vendor',
      'd/up': '../..',
      'd/in': 'deep/er',
      loop: 'pool',
      pool: 'loop',
      rel: 'vendor',
    };
    expect(led('l', 'vendor/lib', links)).toEqual(['symlink']);
    expect(led('l', 'vendor', links)).toEqual(['symlink']);
    expect(led('d/l', '../vendor/lib', links)).toEqual(['symlink']);
    expect(led('l', 'd/up/x', links)).toEqual(['symlink']);
    expect(led('l', 'rel/x', links)).toEqual(['symlink']);
    expect(led('l', 'd/in/x', links)).toEqual([]);
    expect(led('l', 'loop/x', links)).toEqual([]);
    expect(led('l', 'vendored/lib', links)).toEqual([]);
  });

  it.each([
    ['tools/vs/tasks.json', 'editor', { '.vscode': 'tools/vs' }],
    ['tools/hooks/pre-commit', 'git-hooks', { '.husky': 'tools/hooks' }],
    ['docs/rules.md', 'agent', { 'CLAUDE.md': 'docs/rules.md' }],
    ['ci/x.yml', 'ci', { '.github': 'meta', 'meta/workflows': '../ci' }],
    ['tools/pre-commit', 'git-hooks', { '.git/hooks/pre-commit': '../../tools/pre-commit' }],
  ])('a file at %s is gated because a link of the project gives it a name of kind %s', (path, kind, links) => {
    const judged = (now: Entry | null) =>
      gatesOf({ path, before: plain, after: now }, { before: () => null, after: () => null }, gateContext(links));
    expect([judged(plain), judged(null)]).toEqual([[kind], [kind]]);
    expect(gates(path, plain, plain)).toEqual([]);
  });

  it('gates files in a folder of hooks even if they are not executable', () => {
    const judged = (path: string) =>
      gatesOf(
        { path, before: null, after: plain },
        { before: () => null, after: () => null },
        gateContext({}, ['Tools/hooks']),
      );
    expect([judged('tools/hooks/pre-commit'), judged('tools/hooks/lib/x')]).toEqual([['git-hooks'], ['git-hooks']]);
    expect(judged('tools/hooked')).toEqual([]);
  });
});

describe('a changed lockfile gets a note of one line', () => {
  it('the note comes with the gate', () => {
    const lock = (from: string) =>
      JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0', resolved: `https://${from}/a.tgz` } } });
    const [old, now] = [Buffer.from(lock('registry.npmjs.org')), Buffer.from(lock('evil.example'))];
    const change = { path: 'package-lock.json', before: plain, after: plain };
    expect(verdictOf(change, { before: () => old, after: () => now })).toEqual({
      gates: ['dependencies'],
      note: 'changed a 1.0.0 with other content; from a new place evil.example',
    });
    expect(verdictOf(change, { before: () => old, after: () => null }).note).toContain('not known');
  });
});
