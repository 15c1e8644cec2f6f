import { expect, it } from 'vitest';
import { keepersRow, type SandboxProcess } from './keepers.ts';

const kept: SandboxProcess = { id: 'aa', pid: 7, hasKeeper: true, isReachable: true };

it('keepersRow names the sandboxes that have lost their keeper, and those that cannot be reached', () => {
  expect(keepersRow([])).toMatchObject({ level: 'ok' });
  expect(keepersRow([kept])).toMatchObject({ level: 'ok', detail: '1 running, each with a keeper' });
  const alone = { ...kept, id: 'bb', hasKeeper: false };
  expect(keepersRow([kept, alone])).toMatchObject({ level: 'warning', detail: expect.stringMatching(/of bb was/) });
  const row = keepersRow([kept, { ...alone, pid: 8, isReachable: false }]);
  expect(row).toMatchObject({ level: 'failure', hint: expect.stringContaining('kill -9 8.') });
});
