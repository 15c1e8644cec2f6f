import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Connection } from '../connection/connection.ts';
import { platformRefusal, refusalOf, shellPaths } from './image-refusal.ts';

it.each([
  ['linux/amd64', 'amd64', null],
  ['linux/386', 'amd64', null],
  ['linux/', 'amd64', null],
  ['linux/arm64', 'amd64', 'it is for linux/arm64, and this engine runs linux/amd64'],
  ['linux/amd64', 'arm64', 'it is for linux/amd64, and this engine runs linux/arm64'],
  ['windows/amd64', 'amd64', 'it is for windows/amd64, and this engine runs linux/amd64'],
])('the platform of an image is accepted or refused: %s on an engine for %s', (platform, architecture, refusal) => {
  expect(platformRefusal(platform, 'linux', architecture)).toBe(refusal);
});

it('a shell is searched in the image’s PATH and in the standard folders', () => {
  expect(shellPaths('/opt/bin::relative:/bin')).toEqual(['/opt/bin/sh', '/bin/sh', '/usr/local/bin/sh', '/usr/bin/sh']);
});

it('an image whose sh is a link to itself is refused with a reason', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-refusal-'));
  const engine = createServer(({ method, url = '' }, answer) => {
    // Answers like an engine if links form a circle. The answer to HEAD has no body.
    if (method === 'HEAD') answer.writeHead(url.includes('%2Fbin%2Fsh') && !url.includes('usr') ? 500 : 404).end();
    else if (method === 'DELETE') answer.writeHead(204).end();
    else answer.writeHead(method === 'POST' ? 201 : 200).end(JSON.stringify({ Os: 'linux', Arch: 'amd64', Id: 'c' }));
  });
  await once(engine.listen(join(folder, 'socket')), 'listening');
  try {
    const image = { id: 'i', path: '/bin', platform: 'linux/amd64' };
    expect(await refusalOf(image, new Connection(join(folder, 'socket')))).toBe('it has no sh in /bin');
  } finally {
    engine.close();
    rmSync(folder, { recursive: true });
  }
});
