import { expect } from 'vitest';
import type { BankVersionView } from '../../src/noun/memory/api/bank.ts';
import type { Installation } from './installation.ts';

/** B1, B5: what one sandbox writes with a tool another reads as a file, and its plain write is in the history. */
export async function proveBank(carrel: Installation, ...options: string[]): Promise<void> {
  for (const name of ['bank-a', 'bank-b']) await carrel.ok('create', '--name', name, '--memory-bank', ...options);
  const args = { projectName: 'shop', fileName: 'plan.md', content: 'one\n' };
  const call = {
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: { name: 'memory_bank_write', arguments: args },
  };
  const server = ['exec', '-i', 'bank-a', '--', '/opt/carrel/bin/carrel-memory-bank'];
  const { stdout } = await carrel.run(server, { input: `${JSON.stringify(call)}\n` });
  expect(stdout).toContain('shop/plan.md is at version 1');
  const script = 'cat "$MEMORY_BANK_ROOT/shop/plan.md" && echo two > /data/memory-bank/shop/plan.md';
  expect(await carrel.ok('exec', 'bank-b', '--', 'sh', '-c', script)).toBe('one\n');
  expect(await carrel.ok('exec', 'bank-b', '--', 'sh', '-c', 'cat ~/.claude.json')).toContain('carrel-memory-bank');
  const log = await carrel.json<BankVersionView[]>('memory', 'bank', 'log', 'shop/plan.md');
  expect(log).toMatchObject([
    { version: 2, act: 'plain', by: { kind: 'unknown', name: 'bank-a, bank-b' } },
    { version: 1, act: 'write', by: { kind: 'sandbox', name: 'bank-a' } },
  ]);
  await carrel.ok('memory', 'bank', 'restore', 'shop/plan.md', '1');
  const restored = await carrel.ok(
    'exec',
    'bank-a',
    '--',
    'sh',
    '-c',
    'cat /data/memory-bank/shop/plan.md; echo x >> /data/memory-bank/shop/plan.md',
  );
  expect(restored).toBe('one\n');
  await carrel.ok('rm', '--force', 'bank-a', 'bank-b');
}
