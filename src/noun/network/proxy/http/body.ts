/** Finds the end of response bodies without parsing their content. */
import type { IncomingMessage } from 'node:http';
import { valuesOf } from '../../../../lib/wire/http-headers.ts';

export interface Body {
  readonly isOver: boolean;
  /** The part of a chunk that passes; bytes after the end are dropped. Throws `BadBody`. */
  read(chunk: Buffer): Part;
}

interface Part {
  readonly pieces: readonly Buffer[];
  /** The number of content bytes in the pieces. */
  readonly bytes: number;
}

export class BadBody extends Error {}

/** Null: there is no body, or only the end of the connection ends it. */
export function bodyOf({ rawHeaders, statusCode }: IncomingMessage, method: string): Body | null {
  if (method === 'HEAD' || statusCode === 204 || statusCode === 304) return null;
  const [codings, lengths] = [valuesOf(rawHeaders, 'transfer-encoding'), valuesOf(rawHeaders, 'content-length')];
  if (codings.length > 0) return codings.join().toLowerCase() === 'chunked' ? new ChunkedBody() : null;
  return lengths.length === 1 && /^0*[1-9]\d{0,14}$/.test(lengths[0]!) ? new SizedBody(Number(lengths[0])) : null;
}

export class SizedBody implements Body {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  get isOver(): boolean {
    return this.#left === 0;
  }

  read(chunk: Buffer): Part {
    const piece = chunk.length <= this.#left ? chunk : chunk.subarray(0, this.#left);
    this.#left -= piece.length;
    return { pieces: [piece], bytes: piece.length };
  }
}

/** A limit above any line with a size and extensions. */
const maxLineBytes = 4096;
const maxTrailerBytes = 64 * 1024;
const lineFeed = 0x0a;

/** Passes the same chunks without extensions and trailers. The last chunk, which ends the body, is left out. */
export class ChunkedBody implements Body {
  #state: 'size' | 'content' | 'after content' | 'trailer' | 'over' = 'size';
  /** The number of content bytes left in this chunk. */
  #left = 0;
  /** The part of a line that has arrived. */
  #line = '';
  #trailerBytes = 0;

  get isOver(): boolean {
    return this.#state === 'over';
  }

  read(chunk: Buffer): Part {
    const pieces: Buffer[] = [];
    let bytes = 0;
    let at = 0;
    // Start of the bytes that pass as they are.
    let from = 0;
    const upTo = (end: number) => {
      if (end > from) pieces.push(chunk.subarray(from, end));
    };
    while (at < chunk.length && this.#state !== 'over') {
      if (this.#state === 'content') {
        const length = Math.min(this.#left, chunk.length - at);
        at += length;
        bytes += length;
        this.#left -= length;
        if (this.#left === 0) this.#state = 'after content';
        continue;
      }
      const begun = this.#line.length > 0;
      const end = chunk.indexOf(lineFeed, at) + 1 || chunk.length;
      const line = this.#line + chunk.toString('latin1', at, end);
      const written = this.#take(line);
      if (begun || written !== line) {
        upTo(at);
        if (written !== '') pieces.push(Buffer.from(written, 'latin1'));
        from = end;
      }
      at = end;
    }
    upTo(at);
    return { pieces, bytes };
  }

  /** Takes a line or a part of one, and returns the text that passes for it. */
  #take(line: string): string {
    this.#line = '';
    if (line.endsWith('\n')) return this.#whole(line);
    if (line.length > maxLineBytes) throw new BadBody('a line is too long');
    this.#line = line;
    return '';
  }

  #whole(line: string): string {
    if (this.#state === 'size') return this.#size(line);
    if (this.#state === 'after content') {
      if (line !== '\r\n') throw new BadBody('a chunk is longer than it says');
      this.#state = 'size';
      return line;
    }
    this.#trailerBytes += line.length;
    if (this.#trailerBytes > maxTrailerBytes) throw new BadBody('the trailer is too long');
    if (line === '\r\n') this.#state = 'over';
    return '';
  }

  #size(line: string): string {
    const digits = /^([0-9a-f]{1,12})[ \t]*(?:;[^\r\n]*)?\r\n$/i.exec(line)?.[1];
    if (digits === undefined) throw new BadBody('a chunk does not say its size');
    this.#left = Number.parseInt(digits, 16);
    this.#state = this.#left === 0 ? 'trailer' : 'content';
    return this.#left === 0 ? '' : `${digits}\r\n`;
  }
}
