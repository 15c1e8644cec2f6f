/** Logs that are written as a whole: that of a fork, and one that the host replaces. */
import { open } from 'node:fs/promises';
import { Fault } from '../../../../model/fault.ts';
import { type SessionEvent, sessionLimits } from '../../model/session.ts';
import type { LiveSession } from '../live-session.ts';
import { parseEvent } from './log.ts';

const chunkBytes = 256 * 1024;

/** Refuses lines that are not the log of this session. */
export async function writeLog(path: string, id: string, lines: AsyncIterable<string>): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    let [chunk, bytes, seq] = ['', 0, 0];
    for await (const line of lines) {
      seq += 1;
      check(line, id, seq);
      chunk += `${line}\n`;
      bytes += Buffer.byteLength(line) + 1;
      if (bytes > sessionLimits.logBytes) throw new Fault('exhausted', `the log of ${id} is too long`);
      if (chunk.length > chunkBytes) {
        await file.write(chunk);
        chunk = '';
      }
    }
    if (seq === 0) throw new Fault('invalid', `the log of session ${id} is empty`);
    await file.write(chunk);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The present events, as events of a fork. Open turns and questions end in the fork: they belong to the source. */
export async function* forkedLines(source: LiveSession, id: string, title?: string): AsyncGenerator<string> {
  const { seq, questions, turns } = source.fold;
  for await (const { event } of source.read()) {
    if (event.seq > seq) break;
    yield JSON.stringify({ ...event, sessionId: id, ...forkedPart(event, source, title) });
  }
  const at = new Date().toISOString();
  const ends = [
    ...questions.map(({ pendingId, turnId }) => ({ turnId, type: 'answer', data: { pendingId, cancelled: true } })),
    ...turns.map(({ turnId }) => ({ turnId, type: 'turn.ended', data: { stopReason: 'interrupted' } })),
  ];
  for (const [index, end] of ends.entries()) {
    yield JSON.stringify({ seq: seq + index + 1, at, sessionId: id, ...end });
  }
}

/** What differs in the fork. */
function forkedPart(event: SessionEvent, source: LiveSession, title: string | undefined): object {
  if (event.type === 'session.closed') return { type: 'session.note', data: { text: 'The session was closed here.' } };
  if (event.type !== 'session.created') return {};
  const { seq, title: oldTitle } = source.fold;
  const named = title ?? oldTitle;
  const data = {
    ...event.data,
    ...(named === null ? {} : { title: named }),
    forkedFrom: { sessionId: source.id, seq },
  };
  return { at: new Date().toISOString(), data };
}

function check(line: string, id: string, seq: number): void {
  try {
    if (Buffer.byteLength(line) >= sessionLimits.eventBytes) throw new Error('it is too long');
    parseEvent(line, id, seq);
  } catch (error) {
    throw new Fault('invalid', `line ${seq} is not an event of session ${id}: ${(error as Error).message}`);
  }
}
