import { expect, it } from 'vitest';
import { WorkList } from './work-list.ts';

const begun = { name: 'v', type: 'home', user: 'ada', label: null, file: '/b.tar', totalBytes: 10 } as const;

it('work is listed with its bytes as long as it runs', async () => {
  const list = new WorkList();
  const made = await list.during({ ...begun, doing: 'packing' }, async (onProgress) => {
    onProgress(3);
    onProgress(4);
    await list.during({ ...begun, doing: 'checking' }, async () => {
      expect(list.all.map(({ doing, bytes }) => [doing, bytes])).toEqual([
        ['packing', 7],
        ['checking', 0],
      ]);
    });
    return 'made';
  });
  expect([made, list.all]).toEqual(['made', []]);
});

it('work that fails is not listed any more', async () => {
  const list = new WorkList();
  const failing = list.during({ ...begun, doing: 'unpacking' }, () => Promise.reject(new Error('full')));
  expect(list.all.length).toBe(1);
  await expect(failing).rejects.toThrow('full');
  expect(list.all).toEqual([]);
});
