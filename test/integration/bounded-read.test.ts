import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isRefusal, readBounded } from '../../src/lib/file/bounded-read.ts';

it('a FIFO is refused at once, although it has no writer', () => {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-read-'));
  try {
    const path = join(folder, 'fifo');
    execFileSync('mkfifo', [path]);
    expect(() => readBounded(path, 10)).toThrow(expect.toSatisfy((error: unknown) => isRefusal(error, 'not_regular')));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
