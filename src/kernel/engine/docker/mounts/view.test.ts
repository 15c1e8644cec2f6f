import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Connection } from '../connection/connection.ts';
import { findView, viewThrough } from './view.ts';

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
  ])('maps %s to the engine’s path %s, by its innermost mount', (here, there) => {
    expect(view(here)).toBe(there);
  });

  it.each(['/', '/database', '/usr', '/run'])(
    'has no path of the engine for %s, which is inside its container',
    (path) => {
      expect(() => view(path)).toThrow(`does not see ${path}`);
    },
  );

  it('that has the root of the machine mounted at / maps every path through that mount', () => {
    expect(viewThrough([{ here: '/', there: '/srv/root' }])('/usr')).toBe('/srv/root/usr');
  });
});

it('findView fails when the engine dies during the check', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-view-'));
  const server = createServer((request, response) => {
    response.writeHead(request.method === 'POST' ? 201 : 200).flushHeaders();
    if (request.method === 'GET') response.destroy();
    else response.end('{}');
  });
  try {
    await once(server.listen(join(folder, 'socket')), 'listening');
    const connection = new Connection(join(folder, 'socket'));
    const view = findView({ connection, image: 'any', folder, installation: 'here' });
    await expect(view).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('was lost') });
  } finally {
    server.closeAllConnections();
    await once(server.close(), 'close');
    rmSync(folder, { recursive: true });
  }
});
