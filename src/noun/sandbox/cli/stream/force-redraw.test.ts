import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { encodeJson } from '../../../../lib/wire/stream.ts';
import { forceRedraw, otherSizeMs } from './force-redraw.ts';

const size = { rows: 24, columns: 80 };
const other = encodeJson('resize', { rows: 23, columns: 80 });
const right = encodeJson('resize', size);
let socket: PassThrough;
const sent = () => (socket.read() as Buffer | null) ?? Buffer.alloc(0);

beforeEach(() => {
  vi.useFakeTimers();
  socket = new PassThrough();
});
afterEach(() => void vi.useRealTimers());

it('a program keeps the other size until it has drawn, however long its engine takes', () => {
  const sawOutput = forceRedraw(socket, () => size);
  expect(sent()).toEqual(other);
  vi.advanceTimersByTime(otherSizeMs.most - 1);
  expect(sent().length).toBe(0);
  sawOutput();
  vi.advanceTimersByTime(0);
  expect(sent()).toEqual(right);
  vi.advanceTimersByTime(otherSizeMs.most);
  expect(sent().length).toBe(0);
});

it('a program that draws at once still has the other size for a moment', () => {
  const sawOutput = forceRedraw(socket, () => size);
  sawOutput();
  sawOutput();
  vi.advanceTimersByTime(otherSizeMs.least - 1);
  expect(sent()).toEqual(other);
  vi.advanceTimersByTime(1);
  expect(sent()).toEqual(right);
});

it('a program that draws nothing gets the right size in the end', () => {
  forceRedraw(socket, () => size);
  vi.advanceTimersByTime(otherSizeMs.most);
  expect(sent()).toEqual(Buffer.concat([other, right]));
});
