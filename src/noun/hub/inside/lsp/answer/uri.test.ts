import { expect, it } from 'vitest';
import { pathOf, uriOf } from './uri.ts';

it.each(['src/main.ts', 'a b/ü.ts', '.config/x.ts', 'a..b/c.d.ts', '100%.ts', 'a#b?.ts', 'x@1.0/y+z~.ts', 'a\\b.ts'])(
  'a path of the project becomes a URI and the same path again: %s',
  (path) => expect(pathOf('/workspace', uriOf('/workspace', path))).toBe(path),
);

it.each([
  ['file:///workspace/src/../../etc/passwd', '/etc/passwd'],
  ['file:///workspace/src/./a/../b.ts', 'src/b.ts'],
  ['file:///workspace/%2e%2e/etc/passwd', '/etc/passwd'],
  ['file:///workspace//a.ts', 'a.ts'],
  ['file:///workspace2/a.ts', '/workspace2/a.ts'],
  ['file:///workspace', ''],
  ['file:///workspace/', ''],
  ['file:///workspace/a.ts?x#y', 'a.ts'],
  ['file://host/workspace/a.ts', 'file://host/workspace/a.ts'],
  ['untitled:a.ts', 'untitled:a.ts'],
])('%s is converted to the path or URI %s', (uri, path) => expect(pathOf('/workspace', uri)).toBe(path));
