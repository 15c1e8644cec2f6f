import { describe, expect, it } from 'vitest';
import { viewThrough } from './view.ts';

describe('a daemon in a container', () => {
  const view = viewThrough([
    { here: '/data', there: '/var/lib/docker/volumes/carrel/_data' },
    { here: '/data/projects', there: '/home/ann/projects' },
    { here: '/run/docker.sock', there: '/var/run/docker.sock' },
  ]);

  it.each([
    ['/data', '/var/lib/docker/volumes/carrel/_data'],
    ['/data/home/x', '/var/lib/docker/volumes/carrel/_data/home/x'],
    ['/data/projects/one', '/home/ann/projects/one'],
    ['/data/projects-too', '/var/lib/docker/volumes/carrel/_data/projects-too'],
  ])('has %s of the engine as %s, by the innermost of its mounts', (here, there) => {
    expect(view(here)).toBe(there);
  });

  it.each(['/', '/database', '/usr', '/run'])('has no name for %s, which is its own', (path) => {
    expect(() => view(path)).toThrow(`does not see ${path}`);
  });

  it('that has the whole machine under one name sees everything through it', () => {
    expect(viewThrough([{ here: '/', there: '/srv/root' }])('/usr')).toBe('/srv/root/usr');
  });
});
