import { createHash } from 'node:crypto';
import {
  appendFileSync,
  constants,
  linkSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type DurableEntry, DurableLog, type DurableLogOptions } from './durable-log.ts';

let folder: string;
let path: string;
const opened: DurableLog<number>[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-log-'));
  path = join(folder, 'log');
});

afterEach(async () => {
  vi.restoreAllMocks();
  for (const log of opened.splice(0)) await log.close();
  rmSync(folder, { recursive: true });
});

/** Each line is its own number, with any text after it. */
function parse(line: string, number: number): number {
  if (Number.parseInt(line, 10) !== number) throw new Error('not in order');
  return number;
}

function entry(number: number, text = ''): DurableEntry<number> {
  return { item: number, line: `${number}${text}` };
}

async function openLog(options: Partial<DurableLogOptions<number>> = {}): Promise<DurableLog<number>> {
  const log = await DurableLog.open(path, { maxBytes: 10_000_000, maxLineBytes: 200_000, parse, ...options });
  opened.push(log);
  return log;
}

async function all(entries: AsyncIterable<DurableEntry<number>>): Promise<number[]> {
  const items: number[] = [];
  for await (const { item } of entries) items.push(item);
  return items;
}

function upTo(count: number, from = 1): number[] {
  return Array.from({ length: count - from + 1 }, (_, index) => index + from);
}

function link(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

async function fileHandles(): Promise<FileHandle> {
  const file = await open('/dev/null');
  await file.close();
  return Object.getPrototypeOf(file);
}

describe('appending', () => {
  test('numbers many lines that arrive at once in the order of the calls, with few writes', async () => {
    const write = vi.spyOn(await fileHandles(), 'write');
    const taken: number[] = [];
    const log = await openLog({ take: (_, number) => taken.push(number) });
    const numbers = await Promise.all(upTo(2000).map(() => log.append(entry)));
    expect(numbers).toEqual(upTo(2000));
    expect(taken).toEqual(upTo(2000));
    expect(write.mock.calls.length).toBeLessThan(20);
    expect(readFileSync(path, 'utf8')).toBe(`${upTo(2000).join('\n')}\n`);
  });

  test('opens the file with O_DSYNC, so that a write is on disk when it returns', async () => {
    await openLog();
    const fd = readdirSync('/proc/self/fd').find((one) => link(`/proc/self/fd/${one}`) === path)!;
    const flags = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))![1]!;
    expect(Number.parseInt(flags, 8) & constants.O_DSYNC).toBe(constants.O_DSYNC);
  });

  test('shows a line to readers only after the write', async () => {
    const log = await openLog();
    const handles = await fileHandles();
    const seen: number[][] = [];
    const write = handles.write as (...args: unknown[]) => Promise<never>;
    vi.spyOn(handles, 'write').mockImplementation(async function (this: FileHandle, ...args: unknown[]) {
      seen.push(await all(log.read(0)));
      return write.apply(this, args);
    });
    await log.append(entry);
    await log.append(entry);
    expect(seen).toEqual([[], [1]]);
  });

  test('refuses one line that cannot be made, and gives its number to the next', async () => {
    const log = await openLog({ maxLineBytes: 10 });
    const results = await Promise.allSettled([
      log.append(entry),
      log.append(() => {
        throw new Error('no');
      }),
      log.append((number) => entry(number, 'x'.repeat(10))),
      log.append((number) => entry(number, '\n')),
      log.append(entry),
    ]);
    expect(results.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code))).toEqual([
      ...[1, 'internal', 'exhausted', 'invalid', 2],
    ]);
    expect(readFileSync(path, 'utf8')).toBe('1\n2\n');
  });

  test('refuses a line that would exceed the maximum size of the log', async () => {
    const log = await openLog({ maxBytes: 5 });
    await log.append(entry);
    await log.append(entry);
    await expect(log.append(entry)).rejects.toMatchObject({ code: 'exhausted' });
    expect(log.size).toBe(4);
  });

  test('leaves nothing behind when a write finds the disk full', async () => {
    const log = await openLog();
    await log.append(entry);
    const handles = await fileHandles();
    const write = handles.write as (...args: unknown[]) => Promise<never>;
    const full = vi.spyOn(handles, 'write').mockImplementationOnce(async function (this: FileHandle) {
      await write.call(this, Buffer.from('2 half a li'), 0, 11, 2);
      throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
    });
    const refused = await Promise.allSettled([log.append(entry), log.append(entry)]);
    expect(refused.map((one) => one.status === 'rejected' && one.reason.code)).toEqual(['exhausted', 'exhausted']);
    expect(readFileSync(path, 'utf8')).toBe('1\n');
    full.mockRestore();
    expect(await log.append(entry)).toBe(2);
    expect(readFileSync(path, 'utf8')).toBe('1\n2\n');
  });
});

describe('opening', () => {
  test('cuts a log at the last whole line, wherever a crash tore it', async () => {
    const first = await openLog();
    for (let n = 0; n < 3; n += 1) await first.append((number) => entry(number, ' é€'));
    await first.close();
    const bytes = readFileSync(path);
    const lineBytes = bytes.length / 3;
    for (let length = 0; length <= bytes.length; length += 1) {
      writeFileSync(path, bytes);
      truncateSync(path, length);
      const log = await openLog();
      expect(log.count).toBe(Math.floor(length / lineBytes));
      expect(log.cutBytes).toBe(length % lineBytes);
      expect(await log.append(entry)).toBe(log.count);
      await log.close();
      expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(Math.floor(length / lineBytes) + 2);
    }
  });

  test.each([
    ['zero bytes', Buffer.alloc(5000)],
    ['a line that does not parse, and those after it', Buffer.from('no\n3\n')],
    ['a line that is not UTF-8', Buffer.from([0x33, 0xff, 0x0a])],
    ['a line that is too long', Buffer.from(`3${'x'.repeat(300_000)}\n4\n`)],
    ['a long line without end', Buffer.from(`3${'x'.repeat(300_000)}`)],
  ])('sets %s aside', async (_, damage) => {
    writeFileSync(path, '1\n2\n');
    appendFileSync(path, damage);
    const damagedPath = join(folder, 'damaged');
    const log = await openLog({ damagedPath: () => damagedPath });
    expect(log.count).toBe(2);
    expect(readFileSync(path, 'utf8')).toBe('1\n2\n');
    expect(readFileSync(damagedPath).equals(damage)).toBe(true);
  });

  test('refuses a link', async () => {
    writeFileSync(join(folder, 'other'), '');
    symlinkSync('other', path);
    await expect(openLog()).rejects.toMatchObject({ message: expect.stringContaining('ELOOP') });
    rmSync(path);
    linkSync(join(folder, 'other'), path);
    await expect(openLog()).rejects.toMatchObject({ code: 'denied' });
  });
});

describe('reading', () => {
  test('starts after any line, from memory or from the file', async () => {
    const log = await openLog();
    const long = ` ${'x'.repeat(300)}`;
    await Promise.all(upTo(1500).map(() => log.append((number) => entry(number, long))));
    for (const after of [0, 1, 255, 256, 257, 700, 1023, 1024, 1300, 1499, 1500]) {
      expect(await all(log.read(after))).toEqual(upTo(1500, after + 1));
    }
  });

  test('follows lines that come later, every one once, in order, however slow the reader is', async () => {
    const log = await openLog();
    const end = new AbortController();
    const seen: number[] = [];
    const following = (async () => {
      for await (const { item } of log.follow(2, end.signal)) {
        seen.push(item);
        if (item % 50 === 0) await new Promise(setImmediate);
        if (item === 1000) end.abort();
      }
    })();
    for (let n = 0; n < 20; n += 1) {
      await Promise.all(upTo(50).map(() => log.append((number) => entry(number, 'x'.repeat(500)))));
    }
    await following;
    expect(seen).toEqual(upTo(1000, 3));
  });

  test('ends when the log is closed, and appending is refused', async () => {
    const log = await openLog();
    const following = all(log.follow(0, new AbortController().signal));
    await log.append(entry);
    await new Promise(setImmediate);
    await log.close();
    expect(await following).toEqual([1]);
    await expect(log.append(entry)).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('fails with `corrupt` when another program has changed the file', async () => {
    const log = await openLog();
    await Promise.all(upTo(1000).map(() => log.append((number) => entry(number, 'x'.repeat(500)))));
    truncateSync(path, 1000);
    await expect(all(log.read(0))).rejects.toMatchObject({ code: 'corrupt' });
    await expect(log.digest(300)).rejects.toMatchObject({ code: 'corrupt' });
  });
});

test('the digest of any number of lines is a hash chain, also after the log is opened again', async () => {
  const digests = [''];
  for (const number of upTo(600)) {
    digests.push(
      createHash('sha256')
        .update(`${digests[number - 1]}${number}é`)
        .digest('hex'),
    );
  }
  const first = await openLog();
  await Promise.all(upTo(600).map(() => first.append((number) => entry(number, 'é'))));
  await first.close();
  const log = await openLog();
  for (const number of [0, 1, 255, 256, 257, 512, 599, 600]) expect(await log.digest(number)).toBe(digests[number]);
  await expect(log.digest(601)).rejects.toMatchObject({ code: 'invalid' });
});
