import { expect, it } from 'vitest';
import { UserVolumes } from './volumes.ts';

const volumes = new UserVolumes({ name: 'ann', isOwner: true }, { home: { rootless: false } } as never);
const check = (...targets: string[]) => volumes.check(targets.map((target) => ({ volume: 'session', target })));

it('a volume needs a target that is not reserved and that no other mount has', () => {
  check('/data/a', '/data/a/b', '/data/b');
  expect(() => check('/data/a', '/data/b', '/data/a')).toThrow('two volumes cannot both be at "/data/a"');
  for (const place of ['/', '/etc', '/workspace/a', '/data/../etc', '/home/agent'])
    expect(() => check(place)).toThrow('no volume can be mounted');
});
