/** Passes the output of a sandbox from frames to sinks, with back-pressure. */

import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { decodeJson, type Frame } from '../../lib/wire/stream.ts';
import { Fault } from '../../model/fault.ts';
import { isReset, readFrames } from '../client.ts';
import type { Output, Sink } from '../output/output.ts';
import type { Sinks, StreamExit } from './stream.ts';

/**
 * Receives until the exit frame. If the stream ends or is reset before, the daemon went away but the command runs on;
 * `again` is the hint.
 */
export async function receive(stream: Readable, sinks: Sinks, again = 'carrel ls'): Promise<StreamExit> {
  let cause: unknown;
  const exit = await deliver(readFrames(stream), sinks).catch((error) => {
    if (!isReset(error)) throw error;
    cause = error;
    return null;
  });
  if (exit) return exit;
  throw new Fault('unavailable', 'the connection to the daemon was lost while the command was running', {
    cause,
    hint: `The sandbox goes on without it: ${again}`,
  });
}

/** Delivers frames until the exit frame, or until the frames end. */
export async function deliver(frames: AsyncIterable<Frame>, sinks: Sinks): Promise<StreamExit | null> {
  for await (const frame of frames) {
    if (frame.type === 'exit') return decodeJson(frame) as StreamExit;
    if (frame.type === 'stdout') await sinks.stdout(frame.payload);
    if (frame.type === 'stderr') await sinks.stderr(frame.payload);
    if (frame.type === 'notice') sinks.notice?.((decodeJson(frame) as { message: string }).message);
  }
  return null;
}

/** This command's stdout and stderr, bytes unchanged; with --json one line for each chunk, as text. */
export function ownSinks(out: Output): Sinks {
  const notice = (message: string) => out.warn(message);
  if (out.json) return { stdout: jsonSink(out, 'stdout'), stderr: jsonSink(out, 'stderr'), notice };
  return {
    stdout: (chunk) => writeAndDrain(out.stdout, chunk),
    stderr: (chunk) => writeAndDrain(out.stderr, chunk),
    notice,
  };
}

/** Prints the last line of a stream with --json. */
export function closeSinks(out: Output, exit: StreamExit | null): void {
  if (out.json && exit) out.document({ stream: 'exit', ...exit }, 0);
}

export function memoryHint(name: string): string {
  return `${name} ran out of memory; give it more with --memory`;
}

/** Waits while the sink is full. A destroyed sink drops everything; its error handler has the reason. */
export async function writeAndDrain(sink: Sink, chunk: Buffer): Promise<void> {
  if ((sink as Writable).destroyed || sink.write(chunk) !== false) return;
  await once(sink as Writable, 'drain').catch(() => {});
}

function jsonSink(out: Output, stream: 'stdout' | 'stderr'): (chunk: Buffer) => void {
  // A character may be split between two chunks.
  const decoder = new StringDecoder('utf8');
  return (chunk) => {
    const text = decoder.write(chunk);
    if (text !== '') out.document({ stream, text }, 0);
  };
}
