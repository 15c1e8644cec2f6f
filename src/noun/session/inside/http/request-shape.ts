/** The bodies of requests, as `src/noun/session/api.ts` has them for the daemon. */

import { object, plainObject, type Shape, ShapeError, text } from '../../../../model/shape.ts';
import { type ContentBlock, clientId, promptContent, sessionId } from '../../model/session.ts';
import type { Answered, NewPrompt } from '../inside.ts';

const flag: Shape<boolean> = (value, path) => {
  if (typeof value !== 'boolean') throw new ShapeError(path, 'must be true or false');
  return value;
};
const title = text({ min: 1, max: 200 });
const name = text({ max: 200 });

export const newSession = object({}, { sessionId, agent: text({ min: 1, max: 200 }), title, mode: name, model: name });
export const newFork = object({}, { sessionId, title });

const prompt = object(
  {},
  { turnId: clientId, text: text({ min: 1, max: 1_000_000 }), content: promptContent, queue: flag },
);

export const promptRequest: Shape<NewPrompt> = (value, path) => {
  const { text: promptText, content = [], ...rest } = prompt(value, path);
  if ((promptText === undefined) === (content.length === 0)) throw new ShapeError(path, 'needs either text or content');
  const blocks: readonly ContentBlock[] = promptText === undefined ? content : [{ type: 'text', text: promptText }];
  return { ...rest, content: blocks };
};

const answer = object({}, { optionId: text({ max: 10_000 }), content: plainObject, cancel: flag });

export const answerRequest: Shape<Answered> = (value, path) => {
  const answered = answer(value, path);
  const { optionId, content, cancel } = answered;
  const given = [optionId !== undefined, content !== undefined, cancel === true];
  if (given.filter(Boolean).length !== 1) throw new ShapeError(path, 'needs one of optionId, content and cancel: true');
  return answered;
};

export const modeRequest: Shape<{ readonly mode?: string; readonly model?: string; readonly title?: string }> = (
  value,
  path,
) => {
  const wanted = object({}, { mode: text({ min: 1, max: 200 }), model: text({ min: 1, max: 200 }), title })(
    value,
    path,
  );
  if (Object.keys(wanted).length === 0) throw new ShapeError(path, 'needs mode, model or title');
  return wanted;
};

/** A position in the log, such as `Last-Event-ID`. */
export function position(given: string | undefined, what: string): number {
  if (given === undefined || given === '') return 0;
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw new ShapeError([], `${what} must be the number of an event`);
}

/** The positions of several sessions, as JSON `{id: seq}`. */
export function positions(given: string | null): Readonly<Record<string, number>> {
  if (given === null || given === '') return {};
  const entries = Object.entries(plainObject(parsed(given), ['after']));
  if (entries.length > 1000) throw new ShapeError(['after'], 'must have at most 1000 entries');
  return Object.fromEntries(
    entries.map(([id, seq]) => [sessionId(id, ['after']), position(JSON.stringify(seq), `after of ${id}`)]),
  );
}

function parsed(given: string): unknown {
  try {
    return JSON.parse(given);
  } catch {
    throw new ShapeError(['after'], 'must be JSON');
  }
}
