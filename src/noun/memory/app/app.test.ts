/** The rows of `carrel doctor` about the memory. */
import { expect, test } from 'vitest';
import type { MemoryStatsView } from '../api.ts';
import { memory } from './app.ts';

const healthy = { searchesVectors: true, setAside: [], chroma: null } as unknown as MemoryStatsView;
const examined = (stats: Partial<MemoryStatsView>) =>
  memory.examine!({ memory: { stats: async () => ({ ...healthy, ...stats }) } } as never);
const chroma = (rest: Partial<NonNullable<MemoryStatsView['chroma']>>) =>
  examined({ chroma: { state: 'failed', version: null, reason: null, setAside: [], ...rest } });

test('a Chroma server that config.yaml does not ask for has no row', async () => {
  expect(await examined({})).toEqual([]);
});

test('a server that answers is shown with its version, and damaged files with the hint', async () => {
  const [row, damaged] = await chroma({ state: 'ready', version: '1.0.0', setAside: ['/v/damaged-1'] });
  expect(row).toMatchObject({ level: 'ok', detail: 'the server answers, version 1.0.0' });
  expect(damaged).toMatchObject({ level: 'warning', hint: expect.stringContaining('carrel volume restore') });
});

test('a server that is not installed is named with the command that installs it', async () => {
  const [row] = await chroma({ state: 'absent', reason: 'it is not installed' });
  expect(row).toMatchObject({ level: 'warning', hint: expect.stringContaining('carrel memory install') });
});

test('the row of a server that was compiled for a newer glibc names that version', async () => {
  const reason = "Error: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.39' not found (required by /x.node)";
  const [row] = await chroma({ reason });
  expect(row?.detail).toBe('the Chroma server was compiled for GLIBC_2.39, which this system does not have');
});

test('a server that fails is shown with the reason', async () => {
  const [row] = await chroma({ reason: 'out of memory' });
  expect(row).toMatchObject({ level: 'warning', detail: 'the Chroma server is not ready: out of memory' });
});

test('a file of notes that was set aside is named with the command that recovers it', async () => {
  const [row] = await examined({ setAside: ['/m/notes.db.damaged'] });
  expect(row).toMatchObject({ level: 'warning', detail: expect.stringContaining('/m/notes.db.damaged') });
  expect(row?.hint).toContain('sqlite3 /m/notes.db.damaged .recover');
});
