/**
 * The event log of one session, with the state that follows from its events.
 *
 * Life cycle: opened (what a crash left half written is cut off) → events are appended, one after the other → closed.
 *
 * Promises: `append` resolves when the event is on disk, and readers see it only then.
 * The log alone tells the next agent API how to continue: views (`session-views.ts`) are written from it and may be lost.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type DurableEntry, DurableLog } from '../../../../lib/data/durable-log.ts';
import { Fault } from '../../../../model/fault.ts';
import { ShapeError } from '../../../../model/shape.ts';
import { sessionEvent } from '../../model/event.ts';
import {
  type EventData,
  type EventType,
  type Question,
  type QuestionAnswer,
  type SessionEvent,
  sessionLimits,
} from '../../model/session.ts';
import { SessionFold } from '../../model/session-fold.ts';
import type { LoggedEvent } from '../inside.ts';

/** Space that is reserved for the events that end turns. */
const headroomBytes = 4 * 1024 ** 2;

export const logFile = 'events.ndjson';

export class SessionLog {
  readonly id: string;
  readonly fold = new SessionFold();
  /** `seq` of each `prompt` event, by turn. */
  readonly promptSeqs = new Map<string, number>();
  readonly undelivered = new UndeliveredAnswers();
  readonly #log: DurableLog<SessionEvent>;
  #listener: (event: SessionEvent) => void = () => {};

  static async open(folder: string, id: string): Promise<SessionLog> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const taken: SessionEvent[] = [];
    let take = (event: SessionEvent): void => {
      taken.push(event);
    };
    const log = await DurableLog.open<SessionEvent>(join(folder, logFile), {
      maxBytes: sessionLimits.logBytes,
      maxLineBytes: sessionLimits.eventBytes,
      parse: (line, number) => parseEvent(line, id, number),
      take: ({ item }) => take(item),
      damagedPath: () => join(folder, `damaged-${logFile}-${Date.now()}`),
    });
    const opened = new SessionLog(id, log);
    for (const event of taken) opened.#take(event);
    take = (event) => opened.#take(event);
    return opened;
  }

  private constructor(id: string, log: DurableLog<SessionEvent>) {
    this.id = id;
    this.#log = log;
  }

  get cutBytes(): number {
    return this.#log.cutBytes;
  }

  /** Called with each event that is on disk. */
  listen(listener: (event: SessionEvent) => void): void {
    this.#listener = listener;
  }

  /** Resolves to its `seq`, when it is on disk. */
  append<T extends EventType>(type: T, data: EventData[T], turnId?: string): Promise<number> {
    return this.#log.append((seq) => {
      const at = new Date().toISOString();
      const event = { seq, at, sessionId: this.id, ...(turnId === undefined ? {} : { turnId }), type, data };
      return { item: checked(event), line: JSON.stringify(event) };
    });
  }

  /** Throws if only the space that is reserved for ending turns is left. */
  requireSpace(): void {
    if (this.#log.size < sessionLimits.logBytes - headroomBytes) return;
    throw new Fault('exhausted', `the log of session ${this.id} is full`, { hint: 'Create another session.' });
  }

  async *read(): AsyncGenerator<LoggedEvent> {
    for await (const entry of this.#log.read(0)) yield logged(entry);
  }

  async *follow(after: number, signal: AbortSignal): AsyncGenerator<LoggedEvent> {
    for await (const entry of this.#log.follow(after, signal)) yield logged(entry);
  }

  digest(seq: number): Promise<string> {
    return this.#log.digest(seq);
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  #take(event: SessionEvent): void {
    this.fold.take(event);
    this.undelivered.take(event);
    if (event.type === 'prompt') this.promptSeqs.set(event.turnId!, event.seq);
    this.#listener(event);
  }
}

/** Throws for a line that is not the next event of this session. */
export function parseEvent(line: string, id: string, seq: number): SessionEvent {
  const event = sessionEvent(JSON.parse(line), []);
  if (event.seq !== seq || event.sessionId !== id)
    throw new ShapeError(['seq'], `is not event ${seq} of session ${id}`);
  if (seq === 1 && event.type !== 'session.created') throw new ShapeError(['type'], 'must be session.created');
  return event;
}

function checked(event: unknown): SessionEvent {
  try {
    return sessionEvent(event, []);
  } catch (error) {
    throw new Fault('invalid', `not an event: ${(error as Error).message}`);
  }
}

function logged({ item, line }: DurableEntry<SessionEvent>): LoggedEvent {
  return { event: item, line };
}

interface UndeliveredAnswer {
  readonly question: Question;
  readonly answer: QuestionAnswer;
}

const agentEvents: readonly EventType[] = ['text', 'thought', 'tool', 'plan', 'update', 'question'];

/**
 * Answers after which the agent has done nothing yet. Answers are on disk before they are sent, so an agent that is
 * lost may not have received them. The next agent gets them as a prompt, like answers that come later.
 */
class UndeliveredAnswers {
  readonly #questions = new Map<string, Question>();
  #answers: UndeliveredAnswer[] = [];

  /** The undelivered answers of the running turn. */
  get all(): readonly UndeliveredAnswer[] {
    return this.#answers;
  }

  take(event: SessionEvent): void {
    if (agentEvents.includes(event.type) || event.type === 'turn.ended') this.#answers = [];
    if (event.type === 'turn.ended') this.#questions.clear();
    if (event.type === 'question') this.#questions.set(event.data.pendingId, event.data);
    if (event.type === 'answer') this.#answered(event.data);
  }

  #answered(answer: QuestionAnswer): void {
    const question = this.#questions.get(answer.pendingId);
    if (question && !answer.cancelled) this.#answers.push({ question, answer });
  }
}
