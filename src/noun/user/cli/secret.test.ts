import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readLine } from '../../../client/stream/hidden-input.ts';
import { maxSecretBytes } from '../model.ts';
import { secretFromFile, secretFromStdin } from './secret.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-secret-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const piped = (...texts: string[]) => secretFromStdin(Readable.from(texts.map((text) => Buffer.from(text))));
const typed = (...texts: string[]) => readLine(Readable.from(texts.map((text) => Buffer.from(text))));

test('exactly one newline is removed from piped input', async () => {
  expect((await piped('val', 'ue\n')).toString()).toBe('value');
  expect((await piped('value')).toString()).toBe('value');
  expect((await piped('a\nb\n\n')).toString()).toBe('a\nb\n');
  expect(await piped()).toHaveLength(0);
});

test('input that is too large is not read to its end', async () => {
  let pulled = 0;
  const endless = new Readable({
    read() {
      pulled += 1;
      this.push(Buffer.alloc(65_536));
    },
  });
  expect((await secretFromStdin(endless)).length).toBeGreaterThan(maxSecretBytes);
  expect(pulled).toBeLessThan(100);
});

test('every byte of a file is kept', () => {
  const path = join(folder, 'key');
  const bytes = Buffer.from([0, 0xff, 0x0a, 0x0a]);
  writeFileSync(path, bytes);
  expect(secretFromFile(path)).toEqual(bytes);
  writeFileSync(path, Buffer.alloc(maxSecretBytes + 10));
  expect(secretFromFile(path).length).toBeGreaterThan(maxSecretBytes);
});

test('a secret file that cannot be read is an error', () => {
  const code = (value: string) => expect.objectContaining({ code: value }) as Error;
  expect(() => secretFromFile(join(folder, 'absent'))).toThrowError(code('not_found'));
  expect(() => secretFromFile(folder)).toThrowError(code('invalid'));
});

describe('a typed value', () => {
  test.each([
    [['pass\r'], 'pass'],
    [['pa', 'ss', '\n'], 'pass'],
    [['pass\x04'], 'pass'],
    [['wrong\x15right\r'], 'right'],
    [['aé\x7f\x7fb\x08c\r'], 'c'],
    [['\x7f\r'], ''],
    [['cut short'], 'cut short'],
  ])('is read from the keys %j', async (keys, value) => {
    expect((await typed(...keys)).toString()).toBe(value);
  });

  test('is cancelled by Ctrl-C, and refused with several lines', async () => {
    await expect(typed('se\x03')).rejects.toMatchObject({ code: 'cancelled' });
    await expect(typed('one\rtwo\r')).rejects.toMatchObject({ code: 'invalid' });
  });
});
