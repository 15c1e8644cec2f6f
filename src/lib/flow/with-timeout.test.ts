import { expect, it, vi } from 'vitest';
import { withTimeout } from './with-timeout.ts';

it('a task that ends in time gives its own result, and a late task gives the result of `late`', async () => {
  vi.useFakeTimers();
  try {
    const silent = withTimeout<string>(5000, new Promise(() => {}), () => 'late');
    await vi.advanceTimersByTimeAsync(5000);
    expect(await silent).toBe('late');
    const refused = withTimeout(5000, new Promise(() => {}), () => {
      throw new Error('late');
    }).catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(5000);
    expect(await refused).toBe('late');
    expect(await withTimeout(5000, Promise.resolve('done'), () => 'late')).toBe('done');
    await expect(withTimeout(5000, Promise.reject(new Error('failed')), () => 'late')).rejects.toThrow('failed');
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
