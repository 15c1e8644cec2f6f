import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import type { RoomMessage } from './model/room.ts';
import { Recent } from './recent.ts';

const message = (id: string): RoomMessage => ({
  ...{ id, from: 'ann', at: '2026-01-01T00:00:00.000Z', mentions: [], replyTo: null, via: 'cli', body: 'x' },
  attachments: [],
});

test('a wait ends with a commit, an abort or the close, and leaves no listener behind', async () => {
  const recent = new Recent(null);
  for (const end of [
    () => recent.push([message('01')]),
    (abort: AbortController) => abort.abort(),
    () => recent.close(),
  ]) {
    const abort = new AbortController();
    const changed = recent.changed(abort.signal);
    end(abort);
    await changed;
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  }
});

test('aborted waits in a quiet room do not accumulate', async () => {
  const recent = new Recent(null);
  for (let round = 0; round < 3; round += 1) {
    const abort = new AbortController();
    const changed = recent.changed(abort.signal);
    expect(recent.waits).toBe(1);
    abort.abort();
    await changed;
    expect(recent.waits).toBe(0);
  }
});
