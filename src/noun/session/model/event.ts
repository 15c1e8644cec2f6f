/** The shapes of events, for readers that do not trust the writer. */

import { list, object, oneOf, open, plainObject, type Shape, ShapeError, text, whole } from '../../../model/shape.ts';
import type { EventData, EventType, SessionEvent } from './session.ts';
import { clientId, promptContent, sessionId, sessionLimits, stopReasons } from './session.ts';

const short = text({ max: 10_000 });
const long = text({ max: sessionLimits.textBytes });
const flag: Shape<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw new ShapeError(path, 'must be true or false');
  return value;
};
const any: Shape<unknown> = (value) => value;
const named = open({ id: short, name: short }, { description: short });
const choice = object({ current: short, available: list(named, 1000) });

const tool = object(
  { toolCallId: text({ min: 1, max: 500 }) },
  {
    title: long,
    kind: short,
    status: oneOf('pending', 'in_progress', 'completed', 'failed'),
    content: list(plainObject, 1000),
    locations: list(object({ path: short }, { line: whole(0, 2 ** 31) }), 1000),
    rawInput: any,
    rawOutput: any,
    truncated: flag,
  },
);

export const eventData: { readonly [T in EventType]: Shape<EventData[T]> } = {
  'session.created': object(
    { agent: text({ min: 1, max: 200 }), cwd: short },
    { title: short, forkedFrom: object({ sessionId, seq: whole(1, Number.MAX_SAFE_INTEGER) }) },
  ),
  'session.configured': object(
    {},
    {
      ...{ modes: choice, models: choice, canLoad: flag, canFork: flag },
      commands: list(open({ name: short, description: short }), 1000),
    },
  ),
  'session.titled': object({ title: short }),
  'session.note': object({ text: short }),
  'session.failed': object({ reason: short }),
  'session.closed': object({}),
  prompt: object({ content: promptContent }),
  'turn.started': object({}),
  text: object({ text: long }, { truncated: flag }),
  thought: object({ text: long }, { truncated: flag }),
  tool,
  plan: object({ entries: list(open({ content: long, priority: short, status: short }), 1000) }),
  question: object(
    { pendingId: clientId, kind: oneOf('permission', 'question'), title: long },
    {
      options: list(open({ id: short, name: short }, { kind: short }), 100),
      schema: plainObject,
      toolCallId: text({ min: 1, max: 500 }),
    },
  ),
  answer: object({ pendingId: clientId }, { optionId: short, content: plainObject, cancelled: flag }),
  update: plainObject,
  'turn.ended': object({ stopReason: oneOf(...stopReasons) }, { reason: short }),
};

const types = Object.keys(eventData) as EventType[];
const envelope = object(
  {
    seq: whole(1, Number.MAX_SAFE_INTEGER),
    at: text({ pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, says: 'a time in UTC' }),
    sessionId,
    type: oneOf(...types),
    data: plainObject,
  },
  { turnId: clientId },
);

export const sessionEvent: Shape<SessionEvent> = (value, path) => {
  const event = envelope(value, path);
  return { ...event, data: eventData[event.type](event.data, [...path, 'data']) } as SessionEvent;
};
