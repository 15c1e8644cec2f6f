import { expect, it } from 'vitest';
import { unpackFault } from './root.ts';

const last = 'tar: Exiting with failure status due to previous errors\n';

it.each([
  ['tar: This does not look like a tar archive\ntar: Skipping to next header\n', 'invalid', '/x is not a tar archive'],
  ['tar: Unexpected EOF in archive\n', 'invalid', 'cannot unpack /x: Unexpected EOF in archive'],
  ['tar: usr/a: Cannot write: No space left on device\n', 'exhausted', 'no space left to unpack /x'],
])('unpackFault names why tar failed: %j', (stderr, code, message) => {
  expect(unpackFault('/x', stderr + last)).toMatchObject({ code, message });
});
