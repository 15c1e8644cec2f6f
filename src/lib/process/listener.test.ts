import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { listenerAt } from './listener.ts';

it('listenerAt finds the process that listens at a port, and gives null if no process listens', async () => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const found = listenerAt(port, process.pid);
  expect(found?.pid).toBe(process.pid);
  expect(found?.arguments.length).toBeGreaterThan(0);
  server.close();
  expect(listenerAt(port, process.pid)).toBeNull();
  expect(listenerAt(port, 2 ** 22 + 1)).toBeNull();
});
