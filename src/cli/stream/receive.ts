/** What a sandbox says, on its way out: frames → sinks, at the pace of the slower side. */
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { readFrames } from '../../api/client.ts';
import { decodeJson, type Frame } from '../../api/stream.ts';
import { Fault } from '../../model/fault.ts';
import type { Output, Sink } from '../output/output.ts';

export interface Exit {
  readonly exitCode: number;
  readonly signal: string | null;
  readonly outOfMemory: boolean;
  /** HOST:PORT of what it asked for and no rule allowed. */
  readonly refused?: readonly string[];
}

export interface Sinks {
  stdout(chunk: Buffer): Promise<void> | void;
  stderr(chunk: Buffer): Promise<void> | void;
  /** About the stream itself. */
  notice?(message: string): void;
}

/** Until the exit frame. A stream that ends without one lost its daemon, not its command; `again` comes back to it. */
export async function receive(stream: Readable, sinks: Sinks, again = 'carrel ls'): Promise<Exit> {
  const exit = await deliver(readFrames(stream), sinks);
  if (exit) return exit;
  throw new Fault('unavailable', 'the daemon went away while the command was running', {
    hint: `The sandbox goes on without it: ${again}`,
  });
}

/** Until the frames end, or the exit frame, whichever is first. */
export async function deliver(frames: AsyncIterable<Frame>, sinks: Sinks): Promise<Exit | null> {
  for await (const frame of frames) {
    if (frame.type === 'exit') return decodeJson(frame) as Exit;
    if (frame.type === 'stdout') await sinks.stdout(frame.payload);
    if (frame.type === 'stderr') await sinks.stderr(frame.payload);
    if (frame.type === 'notice') sinks.notice?.((decodeJson(frame) as { message: string }).message);
  }
  return null;
}

/** Our own stdout and stderr, bytes as they are; with --json one line for each piece, as text. */
export function ownSinks(out: Output): Sinks {
  const notice = (message: string) => out.warn(message);
  if (out.json) return { stdout: jsonSink(out, 'stdout'), stderr: jsonSink(out, 'stderr'), notice };
  return { stdout: (chunk) => pour(out.stdout, chunk), stderr: (chunk) => pour(out.stderr, chunk), notice };
}

/** The last word of a stream under --json. */
export function closeSinks(out: Output, exit: Exit | null): void {
  if (out.json && exit) out.document({ stream: 'exit', ...exit }, 0);
}

export function memoryHint(name: string): string {
  return `${name} ran out of memory; give it more with --memory`;
}

/** Waits for the sink where it is slow. A sink that broke takes everything; its owner hears of the error. */
export async function pour(sink: Sink, chunk: Buffer): Promise<void> {
  if ((sink as Writable).destroyed || sink.write(chunk) !== false) return;
  await once(sink as Writable, 'drain').catch(() => {});
}

function jsonSink(out: Output, stream: 'stdout' | 'stderr'): (chunk: Buffer) => void {
  // A character may be split between two pieces.
  const decoder = new StringDecoder('utf8');
  return (chunk) => {
    const text = decoder.write(chunk);
    if (text !== '') out.document({ stream, text }, 0);
  };
}
