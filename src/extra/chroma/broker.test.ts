import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callerHeader } from '../../noun/network/model/service.ts';
import { Broker } from './broker.ts';

let folder: string;
let nowMs: number;
let broker: Broker;
const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-broker-'));
  nowMs = 0;
  broker = new Broker({
    placeOf: async () => ({ tenant: 't', database: 'd', readonly: false }),
    server: () => Promise.reject(new Error('no server is needed')),
    nowMs: () => nowMs,
  });
  await broker.listen(join(folder, 'socket'));
});
afterEach(() => {
  broker.close();
  rmSync(folder, { recursive: true });
});

/** Returns status and text of the answer to a request that the broker answers without a server. */
function ask(sandbox: string): Promise<string> {
  const headers = { [callerHeader]: JSON.stringify({ id: sandbox }) };
  const where = { socketPath: join(folder, 'socket'), path: '/api/v2/auth/identity', headers, agent };
  return new Promise((resolve, reject) => {
    const request = http.get(where, async (response) => {
      resolve(`${response.statusCode} ${Buffer.concat(await response.toArray())}`);
    });
    request.on('error', reject);
  });
}

async function allowed(sandbox: string, count: number): Promise<number> {
  const answers = await Promise.all(Array.from({ length: count }, () => ask(sandbox)));
  return answers.filter((answer) => answer.startsWith('200 ')).length;
}

test('a sandbox may send 2000 requests at once, then 500 a second, without an effect on another one', async () => {
  expect(await allowed('one', 2000)).toBe(2000);
  expect(await ask('one')).toMatch(/^429 .*more than 500 requests a second/);
  expect(await allowed('other', 1)).toBe(1);
  nowMs += 1000;
  expect(await allowed('one', 510)).toBe(500);
});
