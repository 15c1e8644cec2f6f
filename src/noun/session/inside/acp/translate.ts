/** Translates updates of an agent to events. One without an event type, or of a wrong shape, becomes an `update`. */

import { eventData } from '../../model/event.ts';
import { type EventData, type EventType, sessionLimits, type ToolChange } from '../../model/session.ts';
import { bound, cutText } from './bound.ts';

type Json = Readonly<Record<string, unknown>>;

export type NewSessionEvent = { [T in EventType]: { readonly type: T; readonly data: EventData[T] } }[EventType];

const maxBytes = sessionLimits.textBytes;

export function eventOf(update: Json): NewSessionEvent {
  const event = translated(update);
  try {
    if (event) return { type: event.type, data: eventData[event.type](event.data, []) } as NewSessionEvent;
  } catch {
    // It does not fit: it is kept as the agent sent it.
  }
  return { type: 'update', data: bound(update, maxBytes).value as Json };
}

function translated(update: Json): NewSessionEvent | null {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
      return textEvent('text', update.content);
    case 'agent_thought_chunk':
      return textEvent('thought', update.content);
    case 'tool_call':
    case 'tool_call_update':
      return { type: 'tool', data: toolChange(update) };
    case 'plan':
      return { type: 'plan', data: { entries: planEntries(update.entries) } };
    default:
      return null;
  }
}

function textEvent(type: 'text' | 'thought', content: unknown): NewSessionEvent | null {
  const { type: kind, text } = (content ?? {}) as { type?: unknown; text?: unknown };
  if (kind !== 'text' || typeof text !== 'string') return null;
  const kept = cutText(text, maxBytes);
  return { type, data: { text: kept, ...(kept.length < text.length ? { truncated: true } : {}) } };
}

const toolFields = ['toolCallId', 'title', 'kind', 'status', 'locations', 'content', 'rawInput', 'rawOutput'] as const;

/** Fields that are null are left out: they did not change. */
export function toolChange(update: Json): ToolChange {
  const present = toolFields.filter((name) => update[name] !== undefined && update[name] !== null);
  const { value, isCut } = bound(Object.fromEntries(present.map((name) => [name, update[name]])), maxBytes);
  const { locations, ...rest } = value as Json;
  const places = Array.isArray(locations) ? { locations: locations.map(place) } : {};
  return { ...rest, ...places, ...(isCut ? { truncated: true } : {}) } as unknown as ToolChange;
}

function place(location: unknown): { path: string; line?: number } {
  const { path, line } = (location ?? {}) as { path: string; line?: unknown };
  return { path, ...(typeof line === 'number' ? { line } : {}) };
}

function planEntries(entries: unknown): EventData['plan']['entries'] {
  return bound(entries, maxBytes).value as EventData['plan']['entries'];
}
