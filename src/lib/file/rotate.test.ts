import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Generations } from './generations.ts';
import { generationNames, rotate } from './rotate.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-rotate-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const content = () =>
  Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );
const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { flag: 'a' });
const path = () => join(folder, 'log');

it('rotate keeps the configured number of files, the newest first', () => {
  for (const text of ['a', 'b', 'c', 'd']) {
    write('log', text);
    rotate(path(), 3);
  }
  expect(content()).toEqual({ 'log.1': 'd', 'log.2': 'c' });
});

it('rotate loses no file after a crash between two steps', () => {
  for (const [name, text] of Object.entries({ log: 'd', 'log.1': 'c', 'log.3': 'a' })) write(name, text);
  rotate(path(), 4);
  expect(content()).toEqual({ 'log.1': 'd', 'log.2': 'c', 'log.3': 'a' });
  rotate(path(), 4);
  expect(content()).toEqual({ 'log.1': 'd', 'log.2': 'c', 'log.3': 'a' });
});

it('rotate removes the old file if only one file is kept', () => {
  write('log', 'a');
  rotate(path(), 1);
  expect(content()).toEqual({});
});

async function rest(reader: Generations): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of reader.rest()) lines.push(line?.toString() ?? 'gap');
  return lines;
}

it('a reader gets each line once and in order, incomplete ones later', async () => {
  const reader = new Generations(folder, generationNames('log', 4));
  expect(await rest(reader)).toEqual([]);
  write('log', 'one\ntw');
  expect(await rest(reader)).toEqual(['one']);
  write('log', 'o\n');
  rotate(path(), 4);
  write('log', 'three\n');
  rotate(path(), 4);
  write('log', 'four\n');
  expect(await rest(reader)).toEqual(['two', 'three', 'four']);
  expect(await rest(reader)).toEqual([]);
});

it('a reader follows files that are renamed while it reads', async () => {
  for (const text of ['one\n', 'two\n', 'three\n']) {
    rotate(path(), 9);
    write('log', text);
  }
  const reader = new Generations(folder, generationNames('log', 9));
  const lines: string[] = [];
  for await (const line of reader.rest()) {
    lines.push(String(line));
    rotate(path(), 9);
    write('log', `after ${line}\n`);
  }
  expect(lines).toEqual(['one', 'two', 'three']);
  expect(await rest(reader)).toEqual(['after one', 'after two', 'after three']);
});

it('a reader whose file is gone reports the gap and continues with the files that exist', async () => {
  const reader = new Generations(folder, generationNames('log', 2));
  write('log', 'one\n');
  expect(await rest(reader)).toEqual(['one']);
  for (const text of ['two\n', 'three\n', 'four\n']) {
    rotate(path(), 2);
    write('log', text);
  }
  expect(await rest(reader)).toEqual(['gap', 'three', 'four']);
});
