/** The rows of `carrel doctor` about the memory bank. */
import { expect, test } from 'vitest';
import { bank } from './bank.ts';

const examined = (damaged: readonly string[]) => bank.examine!({ bank: { damaged: () => damaged } } as never);

test('a history that was set aside has a row with the command that recovers it', async () => {
  expect(await examined([])).toEqual([]);
  const [row] = await examined(['/b/history.db.damaged']);
  expect(row).toMatchObject({ level: 'warning', detail: expect.stringContaining('/b/history.db.damaged') });
  expect(row?.hint).toContain('sqlite3 /b/history.db.damaged .recover');
});
