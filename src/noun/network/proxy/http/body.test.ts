import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { BadBody, type Body, bodyOf, ChunkedBody, SizedBody } from './body.ts';

/** The text that is passed on for these chunks, and the number of its content bytes. */
function read(body: Body, ...chunks: readonly string[]) {
  const parts = chunks.map((chunk) => body.read(Buffer.from(chunk, 'latin1')));
  return {
    text: Buffer.concat(parts.flatMap(({ pieces }) => pieces)).toString('latin1'),
    bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    isOver: body.isOver,
  };
}

describe('a body with a length', () => {
  it('is over after that many bytes, and later bytes are not passed on', () => {
    expect(read(new SizedBody(5), 'he')).toEqual({ text: 'he', bytes: 2, isOver: false });
    expect(read(new SizedBody(5), 'he', 'llo')).toEqual({ text: 'hello', bytes: 5, isOver: true });
    expect(read(new SizedBody(5), 'he', 'llo, and', ' more')).toEqual({ text: 'hello', bytes: 5, isOver: true });
  });
});

describe('a body in chunks', () => {
  const text = 'A;name="value"\r\n0123456789\r\n1\t\r\nx\r\n3\r\n\r\n\n\r\n0;last\r\nTrailer: 1\r\n\r\nand more';
  const passed = { text: 'A\r\n0123456789\r\n1\r\nx\r\n3\r\n\r\n\n\r\n', bytes: 14, isOver: true };

  it('is passed on without extensions, trailers and later bytes, however it is divided', () => {
    expect(read(new ChunkedBody(), text)).toEqual(passed);
    expect(read(new ChunkedBody(), ...text)).toEqual(passed);
    for (let one = 1; one < text.length; one += 1) {
      for (let other = one; other < text.length; other += 7) {
        const chunks = [text.slice(0, one), text.slice(one, other), text.slice(other)];
        expect(read(new ChunkedBody(), ...chunks)).toEqual(passed);
      }
    }
  });

  it('is passed on without copying if it is well-formed', () => {
    const chunk = Buffer.from('5\r\nhello\r\n7\r\n, world\r\n100\r\nx');
    expect(new ChunkedBody().read(chunk).pieces).toEqual([chunk]);
  });

  it.each([
    ['without a size', '\r\n'],
    ['with a size that is not a number', 'x\r\n'],
    ['with a size below zero', '-1\r\n'],
    ['with a size in another notation', '0x5\r\nhello\r\n'],
    ['with a size that is too large', '1000000000000\r\n'],
    ['with a size and a plain line feed', '5\nhello\r\n'],
    ['longer than it says', '4\r\nhello\r\n'],
    ['shorter than it says', '6\r\nhello\r\n0\r\n\r\n'],
    ['with an endless line', `5;${'x'.repeat(10_000)}`],
    ['with an endless trailer', `0\r\n${'X: y\r\n'.repeat(20_000)}`],
  ])('%s is refused', (_, bad) => {
    expect(() => read(new ChunkedBody(), bad)).toThrow(BadBody);
    expect(() => read(new ChunkedBody(), ...bad)).toThrow(BadBody);
  });
});

describe('the end of a body', () => {
  const of = (method: string, statusCode: number, ...rawHeaders: string[]) =>
    bodyOf({ statusCode, rawHeaders } as IncomingMessage, method);

  it('is found by the one header that frames the body', () => {
    expect(of('GET', 200, 'Content-Length', '5')).toBeInstanceOf(SizedBody);
    expect(of('GET', 200, 'Transfer-Encoding', 'Chunked')).toBeInstanceOf(ChunkedBody);
  });

  it.each<[string, number, ...string[]]>([
    ['HEAD', 200, 'Content-Length', '5'],
    ['GET', 204, 'Content-Length', '5'],
    ['GET', 304, 'Transfer-Encoding', 'chunked'],
    ['GET', 200, 'Content-Length', '0'],
    ['GET', 200, 'Content-Length', '5x'],
    ['GET', 200, 'Content-Length', '5', 'Content-Length', '6'],
    ['GET', 200, 'Transfer-Encoding', 'gzip', 'Transfer-Encoding', 'chunked'],
    ['GET', 200, 'Transfer-Encoding', 'gzip'],
    ['GET', 200],
  ])('is not known from %s %i %s %s', (method, status, ...headers) => {
    expect(of(method, status, ...headers)).toBeNull();
  });
});
