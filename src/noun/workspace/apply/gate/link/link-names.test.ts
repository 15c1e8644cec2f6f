import { describe, expect, it, test } from 'vitest';
import { processorMs } from '../../../../../../test/harness/processor-time.ts';
import { LinkNames, type LinkSources } from './link-names.ts';

type Links = Record<string, string>;

function names(links: Links, more: Partial<LinkSources> & { added?: ReadonlyMap<string, string> } = {}): LinkNames {
  return new LinkNames({
    root: '/home/me/p',
    links: new Map(Object.entries(links)),
    added: new Map(),
    changed: new Set(),
    named: [],
    outside: () => null,
    whole: true,
    ...more,
  });
}

describe('a path has the names that links give it', () => {
  it.each<[string, string, Links, string[]]>([
    ['a link to it', 'docs/rules.md', { 'CLAUDE.md': 'docs/rules.md' }, ['claude.md']],
    ['a link to its folder', 'tools/vs/a/b', { '.vscode': './tools//vs/' }, ['.vscode/a/b']],
    ['a link that climbs', 'tools/h', { 'a/b/.husky': '../../tools' }, ['a/b/.husky/h']],
    ['an absolute link', 'tools/h', { '.husky': '/home/me/p/tools' }, ['.husky/h']],
    ['a link out and back in', 'tools/h', { '.husky': '../p/tools' }, ['.husky/h']],
    ['a chain', 'real/h', { '.husky': 'a', a: 'b/c', 'b/c': '../real' }, ['.husky/h', 'a/h', 'b/c/h']],
    [
      'a link in a linked folder',
      'ci/x',
      { '.github': 'meta', 'meta/workflows': '../ci' },
      ['meta/workflows/x', '.github/workflows/x'],
    ],
    ['a link by way of a linked folder', 'real/vs/x', { cur: 'real', '.vscode': 'cur/vs' }, ['.vscode/x', 'cur/vs/x']],
    ['a target that is not there yet', 'config/envrc', { '.envrc': 'config/envrc' }, ['.envrc']],
    ['another case of letters', 'tools/vs/x', { '.vscode': 'Tools/VS' }, ['.vscode/x']],
    ['a link to the project', 'x', { 'a/self': '..' }, ['a/self/x']],
    ['links in circles', 'x/y', { a: 'b', b: 'a', 'x/z': 'z', 'x/x': '.' }, ['x/x/y']],
    ['no name by other links', 'toolsy/x', { '.vscode': 'tools', out: '/opt', up: '../../..' }, []],
  ])('%s', (_, path, links, expected) => {
    const found = names(links).namesOf(path);
    expect(new Set(found.names)).toEqual(new Set([path, ...expected]));
    expect(found.whole).toBe(true);
  });

  it('a link of the project is followed outside of the project, where another link leads back', () => {
    const outside = (path: string) => (path === '/opt/shared/vs' ? '/home/me/p/tools/vs' : null);
    const { names: found } = names({ '.vscode': '/opt/shared/vs' }, { outside }).namesOf('tools/vs/x');
    expect(found).toContain('.vscode/x');
  });

  it('a link of the agent is not resolved outside of the project', () => {
    const outside = () => {
      throw new Error('looked');
    };
    expect(names({}, { added: new Map([['l', '/etc/x']]), outside }).namesOf('x').names).toEqual(['x']);
  });
});

describe('names that come from the changes themselves', () => {
  it('an added link gives names to the paths that it leads to', () => {
    const added = new Map([['meta/workflows', '../ci']]);
    expect(names({ '.github': 'meta' }, { added }).namesOf('ci/x').names).toContain('.github/workflows/x');
  });

  it('a link with a new target gives names to itself, to the new target and to the old one', () => {
    const links = { '.vscode': 'cur/vs', cur: 'releases/1' };
    const sources = { added: new Map([['cur', 'releases/evil']]), changed: new Set(['cur']) };
    expect(names(links, sources).namesOf('cur').names).toContain('.vscode');
    expect(names(links, sources).namesOf('releases/evil/vs/x').names).toContain('.vscode/x');
    expect(names(links, sources).namesOf('releases/1/vs/x').names).toContain('.vscode/x');
  });

  it('a link that replaces a folder gets the names of links through that folder', () => {
    const sources = { added: new Map([['tools', 'evil']]), changed: new Set(['tools']) };
    expect(names({ '.vscode': 'tools/vs' }, sources).namesOf('tools').names).toContain('.vscode');
  });
});

test('a file in the folder of core.hooksPath is named as a hook, also through a link', () => {
  expect(names({}, { named: [['.git/hooks', 'tools/hooks']] }).namesOf('tools/hooks/pre-commit').names).toContain(
    '.git/hooks/pre-commit',
  );
  expect(names({ h: 'tools' }, { named: [['.git/hooks', 'h']] }).namesOf('tools/pre-commit').names).toContain(
    '.git/hooks/pre-commit',
  );
  expect(names({}, { named: [['.git/hooks', '']] }).namesOf('pre-commit').names).toContain('.git/hooks/pre-commit');
  expect(names({}, { named: [['.git/hooks', '../other']] }).namesOf('pre-commit').names).toEqual(['pre-commit']);
});

test('names past the limit are left out, and `whole` is false', () => {
  const links = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`self${n}`, '.']));
  const { names: found, whole } = names(links).namesOf('x');
  expect([found.length, whole]).toEqual([500, false]);
  expect(names({}, { whole: false }).namesOf('x').whole).toBe(false);
});

test('many links are read in little time', () => {
  const links = Object.fromEntries(
    Array.from({ length: 50_000 }, (_, n) => [`node_modules/.store/p${n}/node_modules/q${n}`, `../../p${n + 1}/q${n}`]),
  );
  const start = processorMs();
  expect(names(links).namesOf('node_modules/.store/p2/q1/x').names).toHaveLength(2);
  expect(processorMs() - start).toBeLessThan(5000);
});
