/** A question that is answered by typing: one line for each field of its schema. */
import { plain } from '../../../client/output/text.ts';
import type { AnyQuestion } from './question-text.ts';

interface Field {
  readonly type?: unknown;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly enum?: unknown;
  readonly oneOf?: unknown;
}

type Value = string | number | boolean;

export class Form {
  readonly #fields: readonly (readonly [name: string, field: Field])[];
  readonly #required: readonly unknown[];
  readonly #values: Record<string, Value> = {};
  #at = 0;

  constructor({ schema = {} }: AnyQuestion) {
    const { properties, required } = schema as { properties?: Record<string, Field>; required?: unknown };
    const named = Object.entries(properties ?? {});
    this.#fields = named.length > 0 ? named : [['answer', { type: 'string' }]];
    this.#required = Array.isArray(required) ? required : [];
  }

  /** The question for the next line; null: all fields are answered. */
  get prompt(): string | null {
    const [name, field] = this.#fields[this.#at] ?? [];
    if (name === undefined || field === undefined) return null;
    const choices = choicesOf(field).map(([, shown], index) => `${index + 1} ${plain(shown)}`);
    const hint = field.type === 'boolean' ? ' [y/n]' : choices.length > 0 ? ` [${choices.join(', ')}]` : '';
    return `${plain(String(field.title ?? field.description ?? name))}${hint}`;
  }

  /** Whether this single key answers the next line, as the number of a choice. */
  isKey(key: string): boolean {
    const choices = choicesOf(this.#fields[this.#at]?.[1] ?? {});
    const isNumbered = choices.length < 10 && !choices.some((names) => names.some((name) => /^\d/.test(name)));
    return isNumbered && /^[1-9]$/.test(key) && Number(key) <= choices.length;
  }

  get content(): Readonly<Record<string, Value>> {
    return this.#values;
  }

  /** Takes a line as the next answer. Returns why it is not an answer; null: it was accepted. */
  take(line: string): string | null {
    const [name, field] = this.#fields[this.#at]!;
    const text = line.trim();
    if (text === '' && !this.#required.includes(name)) {
      this.#at += 1;
      return null;
    }
    const value = text === '' ? undefined : parsed(field, text);
    if (value === undefined) return needs(field);
    this.#values[name] = value;
    this.#at += 1;
    return null;
  }
}

function parsed(field: Field, text: string): Value | undefined {
  const choices = choicesOf(field);
  if (choices.length > 0) {
    return (choices.find(([value, shown]) => value === text || shown === text) ?? choices[Number(text) - 1])?.[0];
  }
  if (field.type === 'boolean')
    return /^(y|yes|true)$/i.test(text) ? true : /^(n|no|false)$/i.test(text) ? false : undefined;
  if (field.type === 'integer') return /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
  if (field.type === 'number') return Number.isFinite(Number(text)) ? Number(text) : undefined;
  return text;
}

function needs(field: Field): string {
  if (choicesOf(field).length > 0) return 'type one of the choices, or its number';
  if (field.type === 'boolean') return 'type y or n';
  if (field.type === 'integer' || field.type === 'number') return 'type a number';
  return 'type an answer';
}

/** The choices of a field: each value with its text. */
function choicesOf(field: Field): (readonly [value: string, shown: string])[] {
  if (Array.isArray(field.enum)) return field.enum.map((value) => [String(value), String(value)]);
  if (!Array.isArray(field.oneOf)) return [];
  const titled = field.oneOf as readonly { readonly const?: unknown; readonly title?: unknown }[];
  return titled.map((one) => [String(one.const), String(one.title ?? one.const)]);
}
