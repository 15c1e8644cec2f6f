import { expect, it } from 'vitest';
import { guestRoot } from './account.ts';

it.each([
  ['unprivileged: 1\nmp0: /a,mp=/a\n', 100_000],
  ['unprivileged: 1\nlxc.idmap: u 0 200000 65536\n', 200_000],
  ['lxc.idmap = u 0 165536 65536\n', 165_536],
  ['hostname: box\n', 0],
  [null, 100_000],
])('root of a guest with the settings %j is uid %i of the host', (settings, uid) => {
  expect(guestRoot('100', settings)).toBe(uid);
});
