import { expect, test } from 'vitest';
import { Fault } from '../../model/fault.ts';
import type { Context } from './context.ts';
import { stopContainer } from './end.ts';

test('an engine that goes away before the signal is sent is one error', async () => {
  const away = new Fault('unavailable', 'nobody answers');
  const connection = { wait: () => Promise.reject(away), find: () => new Promise((resolve) => setImmediate(resolve)) };
  await expect(stopContainer({ connection } as unknown as Context, 'box', 1000)).rejects.toBe(away);
});
