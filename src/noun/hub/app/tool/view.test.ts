import { describe, expect, test } from 'vitest';
import { hubResult, hubText, inProject, spokeText } from './view.ts';

const shop = { id: 'shop', folder: '/home/u/my.shop' };

describe('paths in the output of a spoke become paths of the hub', () => {
  test.each([
    ['/workspace/src/a.ts:3:5 - error', '/workspaces/shop/src/a.ts:3:5 - error'],
    ['at f (/workspace/src/a.ts:3:5)', 'at f (/workspaces/shop/src/a.ts:3:5)'],
    ['at file:///workspace/a.mjs:1', 'at file:///workspaces/shop/a.mjs:1'],
    ['File "/workspace/a.py", line 3', 'File "/workspaces/shop/a.py", line 3'],
    ['cd /workspace', 'cd /workspaces/shop'],
    ['/workspace:/workspace', '/workspaces/shop:/workspaces/shop'],
    ['--root=/workspace/', '--root=/workspaces/shop/'],
  ])('%s', (text, wanted) => expect(hubText('shop', text)).toBe(wanted));

  test.each([
    ['/workspace2/a'],
    ['/workspaces/shop/a'],
    ['/home/workspace/a'],
    ['x/workspace/a'],
    ['./workspace'],
    ['/workspace.old/a'],
  ])('%s stays', (text) => expect(hubText('shop', text)).toBe(text));
});

describe('paths in arguments become paths of the spoke', () => {
  test.each([
    ['/workspaces/shop/a.ts', '/workspace/a.ts'],
    ['/home/u/my.shop/a.ts', '/workspace/a.ts'],
    ['--config=/workspaces/shop/c.json', '--config=/workspace/c.json'],
    ['cat /workspaces/shop/a | wc', 'cat /workspace/a | wc'],
    ['/workspaces/shop2/a', '/workspaces/shop2/a'],
    ['/home/u/my_shop/a', '/home/u/my_shop/a'],
    ['/home/u/my.shop-old/a', '/home/u/my.shop-old/a'],
  ])('%s', (text, wanted) => expect(spokeText(shop, text)).toBe(wanted));
});

test('a project that is elsewhere has no path of the host', () => {
  const away = { id: 'shop', folder: '' };
  expect(inProject(away, '/etc/passwd')).toBe('/etc/passwd');
  expect(spokeText(away, 'a /workspaces/shop b')).toBe('a /workspace b');
});

test.each([
  ['src/a.ts', 'src/a.ts'],
  ['/workspace/src/a.ts', 'src/a.ts'],
  ['/workspaces/shop//src/a.ts', 'src/a.ts'],
  ['/home/u/my.shop/src/a.ts', 'src/a.ts'],
  ['/home/u/my.shop', ''],
  ['/workspaces/store/a.ts', '/workspaces/store/a.ts'],
])('%s in the project is %j', (path, wanted) => expect(inProject(shop, path)).toBe(wanted));

describe('paths in results become paths of the hub', () => {
  test('at every depth, and in messages', () => {
    const result = {
      path: '',
      paths: ['a.ts'],
      locations: [{ path: 'src/a.ts', text: '/workspace' }],
      message: 'in /workspace/a.ts',
    };
    expect(hubResult('shop', result)).toEqual({
      path: '/workspaces/shop',
      paths: ['/workspaces/shop/a.ts'],
      locations: [{ path: '/workspaces/shop/src/a.ts', text: '/workspace' }],
      message: 'in /workspaces/shop/a.ts',
    });
  });

  test('an object that names another project gets the paths of that project', () => {
    const files = [{ project: 'store', path: 'b.py', from: 'a.py' }];
    expect(hubResult('', { files })).toEqual({
      files: [{ project: 'store', path: '/workspaces/store/b.py', from: '/workspaces/store/a.py' }],
    });
  });

  test('a path of the sandbox outside of the project stays', () => {
    expect(hubResult('shop', { path: '/usr/lib/node_modules/a.d.ts' })).toEqual({
      path: '/usr/lib/node_modules/a.d.ts',
    });
  });
});
