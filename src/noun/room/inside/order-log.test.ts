import { appendFileSync, closeSync, mkdtempSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { lastNames, OrderLog, offsetAfter } from './order-log.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-order-'));
  path = join(folder, 'order.log');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const idOf = (index: number) => `01JD8Q4Y${String(index * 2).padStart(18, '0')}`;
const nameOf = (index: number) => `${idOf(index)}-${'x'.repeat(1 + (index % 60))}.md`;
const names = (count: number, from = 0) => Array.from({ length: count }, (_, index) => nameOf(from + index));
const put = (all: readonly string[]) => writeFileSync(path, all.map((name) => `${name}\n`).join(''));

test('bisection finds the line after every id, and after an id that is not in the file', () => {
  const all = names(300);
  put(all);
  const fd = openSync(path, 'r');
  const starts = all.map((_, index) => all.slice(0, index).join('\n').length + (index === 0 ? 0 : 1));
  for (let index = 0; index < 299; index++) {
    expect(offsetAfter(fd, idOf(index))).toBe(starts[index + 1]);
    expect(offsetAfter(fd, idOf(index + 0.5))).toBe(starts[index + 1]);
  }
  expect(offsetAfter(fd, '0')).toBe(0);
  expect(offsetAfter(fd, idOf(299))).toBe(all.join('\n').length + 1);
  closeSync(fd);
});

test('a reader gets every name once, in order, even if lines arrive in pieces', () => {
  const log = new OrderLog(path, null);
  expect(log.next()).toEqual([]);
  put(names(5));
  expect(log.next()).toEqual(names(5));
  appendFileSync(path, nameOf(5).slice(0, 30));
  expect(log.next()).toEqual([]);
  appendFileSync(path, `${nameOf(5).slice(30)}\n`);
  expect(log.next()).toEqual([nameOf(5)]);
  log.close();
});

test('a reader continues at its position when another file replaces the one that it reads', () => {
  put(names(50));
  const log = new OrderLog(path, idOf(20));
  expect(log.next()).toEqual(names(29, 21));
  writeFileSync(`${path}.new`, [...names(20, 40), ...names(2, 60)].map((name) => `${name}\n`).join(''));
  renameSync(`${path}.new`, path);
  expect(log.next()).toEqual(names(12, 50));
  log.close();
});

test('the last names are read from the end', () => {
  expect(lastNames(path, 3)).toEqual([]);
  put(names(1000));
  expect(lastNames(path, 3)).toEqual(names(3, 997));
  expect(lastNames(path, 5000)).toEqual(names(1000));
});
