import { expect, test } from 'vitest';
import { inGuest } from './verify.ts';

test('a guest cannot be probed without pct and lxc-attach, and the hint says what to run on its host', () => {
  const probe = () => inGuest({ folder: '/srv/in' }, { name: '100', path: '/mnt/in' }, () => null);
  expect(probe).toThrow('neither pct nor lxc-attach is on this machine');
  expect(probe).toThrow(
    expect.objectContaining({ hint: 'Run on its host: touch /srv/in/probe; pct exec 100 -- rm /mnt/in/probe' }),
  );
});
