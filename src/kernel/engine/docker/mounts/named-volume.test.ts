import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Mount } from '../../../../model/mount.ts';
import type { Connection } from '../connection/connection.ts';
import { nameVolumes } from './named-volume.ts';

let source: string;
beforeAll(() => {
  source = mkdtempSync(join(tmpdir(), 'carrel-named-'));
});
afterAll(() => rmSync(source, { recursive: true }));

/** An engine in which the volume is removed, with another sandbox, as soon as it was created. */
const gone = {
  send: async (_: string, { DriverOpts }: { DriverOpts: object }) => ({ Options: DriverOpts }),
  ask: async () => Promise.reject(new Error('no such volume')),
  find: async () => null,
} as unknown as Connection;

it('nameVolumes relies on the answer to its request, because the volume may be removed right after it', async () => {
  const mount: Mount = { kind: 'bind', source, target: '/data', readonly: false, volume: 'carrel-session-1' };
  const input = { connection: gone, installation: 'here', agent: statSync(source), view: (path: string) => path };
  const named = await nameVolumes([mount], input);
  expect(named.get(0)).toMatchObject({
    Source: 'carrel-session-1',
    VolumeOptions: { DriverConfig: { Options: { device: source } } },
  });
});
