import { expect, it } from 'vitest';
import { placesOf, platformRefusal } from './image-refusal.ts';

it.each([
  ['linux/amd64', 'amd64', null],
  ['linux/386', 'amd64', null],
  ['linux/', 'amd64', null],
  ['linux/arm64', 'amd64', 'it is for linux/arm64, and this engine runs linux/amd64'],
  ['linux/amd64', 'arm64', 'it is for linux/amd64, and this engine runs linux/arm64'],
  ['windows/amd64', 'amd64', 'it is for windows/amd64, and this engine runs linux/amd64'],
])('an image for %s on an engine for %s', (platform, architecture, refusal) => {
  expect(platformRefusal(platform, 'linux', architecture)).toBe(refusal);
});

it('a shell is searched in the image’s PATH and in the standard folders', () => {
  expect(placesOf('/opt/bin::relative:/bin')).toEqual(['/opt/bin/sh', '/bin/sh', '/usr/local/bin/sh', '/usr/bin/sh']);
});
