/** Modes and models of an agent, which versions of the protocol report in several forms. */

import { clip } from '../../../../model/shape.ts';
import type { Choice, EventData } from '../../model/session.ts';

type Json = Readonly<Record<string, unknown>>;

const maxEntries = 1000;
const maxText = 10_000;

/** How a choice is changed: by a method of its own, or by an option. */
export type Setter = { readonly method: string; readonly field: string } | { readonly configId: string };

export interface Known {
  readonly choice: Choice;
  readonly setter: Setter;
}

export interface Configuration {
  readonly modes: Known | null;
  readonly models: Known | null;
}

/** Reads the answer that opens a session, or an update with `configOptions`. */
export function configurationOf(answer: Json): Configuration {
  const { modes, models } = answer;
  return {
    modes: stated(modes, 'Mode', 'id', 'session/set_mode') ?? option(answer.configOptions, 'mode'),
    models: option(answer.configOptions, 'model') ?? stated(models, 'Model', 'modelId', 'session/set_model'),
  };
}

function stated(state: unknown, name: 'Mode' | 'Model', idName: string, method: string): Known | null {
  const { [`current${name}Id`]: current, [`available${name}s`]: available } = objectOf(state);
  const choice = choiceOf(current, available, idName);
  return choice && { choice, setter: { method, field: `${name.toLowerCase()}Id` } };
}

/** Finds the option by its category, or else by its id. Its values may be in groups. */
function option(options: unknown, category: string): Known | null {
  const all = listOf(options).map(objectOf);
  const found = all.find((one) => one.category === category) ?? all.find((one) => one.id === category);
  if (found?.type !== 'select' || typeof found.id !== 'string') return null;
  const values = listOf(found.options).flatMap((one) =>
    'options' in objectOf(one) ? listOf(objectOf(one).options) : [one],
  );
  const choice = choiceOf(found.currentValue, values, 'value');
  return choice && { choice, setter: { configId: found.id } };
}

function choiceOf(current: unknown, available: unknown, idName: string): Choice | null {
  const entries = listOf(available)
    .map(objectOf)
    .filter((one) => typeof one[idName] === 'string');
  if (typeof current !== 'string' || entries.length === 0) return null;
  const named = entries.slice(0, maxEntries).map((one) => ({
    id: clip(one[idName] as string, maxText),
    name: clip(typeof one.name === 'string' ? one.name : (one[idName] as string), maxText),
    ...(typeof one.description === 'string' ? { description: clip(one.description, maxText) } : {}),
  }));
  return { current: clip(current, maxText), available: named };
}

export function commandsOf(commands: unknown): NonNullable<EventData['session.configured']['commands']> {
  const named = listOf(commands)
    .map(objectOf)
    .filter(({ name }) => typeof name === 'string');
  return named.slice(0, maxEntries).map(({ name, description }) => ({
    name: clip(name as string, maxText),
    description: typeof description === 'string' ? clip(description, maxText) : '',
  }));
}

function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
