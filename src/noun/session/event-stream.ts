/** Parser for server-sent events of a program that is not trusted: linear time and a limited buffer. */
import { isUtf8 } from 'node:buffer';
import { Fault } from '../../model/fault.ts';
import { sessionLimits } from './model/session.ts';

export interface ParsedSseEvent {
  readonly event: string;
  readonly id: string;
  readonly data: string;
}

const newline = 0x0a;
/** A line of a log, after `data: `. */
const maxLineBytes = sessionLimits.eventBytes + 64;

export class EventStream {
  #held: Buffer[] = [];
  #heldBytes = 0;
  #event = '';
  #id = '';
  #data: string | null = null;

  /** The events that end in this chunk. */
  push(chunk: Buffer): ParsedSseEvent[] {
    const events: ParsedSseEvent[] = [];
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      const sent = this.#line(this.#whole(chunk.subarray(from, end)));
      if (sent !== null) events.push(sent);
      from = end + 1;
    }
    this.#hold(chunk.subarray(from));
    return events;
  }

  #hold(rest: Buffer): void {
    this.#heldBytes += rest.length;
    if (this.#heldBytes > maxLineBytes) throw new Fault('corrupt', `a line of more than ${maxLineBytes} bytes`);
    if (rest.length > 0) this.#held.push(rest);
  }

  #whole(end: Buffer): string {
    this.#hold(end);
    const bytes = Buffer.concat(this.#held, this.#heldBytes);
    this.#held = [];
    this.#heldBytes = 0;
    if (!isUtf8(bytes)) throw new Fault('corrupt', 'text that is not UTF-8');
    return bytes.toString();
  }

  /** An empty line ends an event. */
  #line(line: string): ParsedSseEvent | null {
    if (line !== '') return this.#field(line);
    const sent = this.#data === null ? null : { event: this.#event, id: this.#id, data: this.#data };
    this.#event = '';
    this.#id = '';
    this.#data = null;
    return sent;
  }

  #field(line: string): null {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') this.#event = value;
    else if (name === 'id') this.#id = value;
    else if (name === 'data' && this.#data === null) this.#data = value;
    else if (colon !== 0) throw new Fault('corrupt', 'a line that is no field of an event');
    return null;
  }
}
