/**
 * Checks of JSON values for programs that must start quickly or run inside a sandbox, without a schema package
 * (decision 43).
 *
 * A shape is a function: it returns the value with its type, or throws a ShapeError that says where and why. Objects
 * refuse fields they do not know unless they are made with `open`.
 */
import { isObject } from './object.ts';

export type JsonPath = readonly (string | number)[];
export type Shape<T> = (value: unknown, path: JsonPath) => T;
export type Shaped<S> = S extends Shape<infer T> ? T : never;

export class ShapeError extends Error {
  override readonly name = 'ShapeError';
  readonly path: JsonPath;
  readonly reason: string;

  constructor(path: JsonPath, reason: string) {
    super(path.length === 0 ? reason : `${pathText(path)}: ${reason}`);
    this.path = path;
    this.reason = reason;
  }
}

/** The path as people write it: `userStories[2].id`. */
export function pathText(path: JsonPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    if (!/^[A-Za-z_$][\w$]*$/.test(part)) return `${text}[${JSON.stringify(part.slice(0, 80))}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');
}

export interface TextRule {
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: RegExp;
  /** What the pattern means, as the words after "must be". */
  readonly says?: string;
}

export function text(rule: TextRule = {}): Shape<string> {
  const { min = 0, max = Number.POSITIVE_INFINITY, pattern, says } = rule;
  return (value, path) => {
    if (typeof value !== 'string') throw new ShapeError(path, `must be text, not ${kindOf(value)}`);
    if (value.length < min) throw new ShapeError(path, 'must not be empty');
    if (isLonger(value, max)) throw new ShapeError(path, `must have at most ${max} characters`);
    if (pattern && !pattern.test(value)) throw new ShapeError(path, `must be ${says ?? `like ${pattern.source}`}`);
    return value;
  };
}

export function whole(min: number, max: number): Shape<number> {
  return (value, path) => {
    if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max) return value as number;
    throw new ShapeError(path, `must be a whole number from ${min} to ${max}`);
  };
}

export const flag: Shape<boolean> = (value, path) => {
  if (typeof value === 'boolean') return value;
  throw new ShapeError(path, `must be true or false, not ${kindOf(value)}`);
};

export function oneOf<const T extends string>(...allowed: readonly T[]): Shape<T> {
  return (value, path) => {
    if (allowed.includes(value as T)) return value as T;
    throw new ShapeError(path, `must be ${allowed.map((one) => JSON.stringify(one)).join(' or ')}`);
  };
}

export function orNull<T>(shape: Shape<T>): Shape<T | null> {
  return (value, path) => (value === null ? null : shape(value, path));
}

export function list<T>(shape: Shape<T>, max: number): Shape<readonly T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw new ShapeError(path, `must be a list, not ${kindOf(value)}`);
    if (value.length > max) throw new ShapeError(path, `must have at most ${max} entries`);
    return value.map((one, index) => shape(one, [...path, index]));
  };
}

export function record<T>(key: TextRule, shape: Shape<T>, max: number): Shape<Readonly<Record<string, T>>> {
  return (value, path) => {
    const entries = Object.entries(plainObject(value, path));
    if (entries.length > max) throw new ShapeError(path, `must have at most ${max} entries`);
    return Object.fromEntries(
      entries.map(([name, one]) => [text(key)(name, [...path, name]), shape(one, [...path, name])]),
    );
  };
}

type Fields = Readonly<Record<string, Shape<unknown>>>;
type Whole<F extends Fields> = { readonly [K in keyof F]: Shaped<F[K]> };
type Object<R extends Fields, O extends Fields> = Whole<R> & Partial<Whole<O>>;

export function object<R extends Fields, O extends Fields = Record<never, never>>(
  required: R,
  optional: O = {} as O,
): Shape<Object<R, O>> {
  const fields = open(required, optional);
  return (value, path) => {
    const known = fields(value, path);
    const stranger = Object.keys(value as object).find((name) => !hasOwn(required, name) && !hasOwn(optional, name));
    if (stranger !== undefined) throw new ShapeError([...path, stranger], 'is not a known field');
    return known;
  };
}

/** An object that may have other fields; they are left out of the result. */
export function open<R extends Fields, O extends Fields = Record<never, never>>(
  required: R,
  optional: O = {} as O,
): Shape<Object<R, O>> {
  const [needed, possible] = [Object.entries(required), Object.entries(optional)];
  return (value, path) => {
    const from = plainObject(value, path);
    const known: Record<string, unknown> = {};
    for (const [name, shape] of needed) {
      if (!hasOwn(from, name)) throw new ShapeError([...path, name], 'is missing');
      known[name] = shape(from[name], [...path, name]);
    }
    for (const [name, shape] of possible) {
      if (hasOwn(from, name)) known[name] = shape(from[name], [...path, name]);
    }
    return known as Object<R, O>;
  };
}

export function plainObject(value: unknown, path: JsonPath): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value;
  throw new ShapeError(path, `must be an object, not ${kindOf(value)}`);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'a list' : `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`;
}

function hasOwn(of: object, name: string): boolean {
  return Object.hasOwn(of, name);
}

/** Characters are code points, as in JSON Schema; they are counted only if it matters. */
function isLonger(value: string, max: number): boolean {
  if (value.length <= max) return false;
  return value.length > 2 * max || [...value].length > max;
}

/** The text with at most that many characters, and with "…" at the end if it was cut. */
export function clip(value: string, max: number): string {
  return isLonger(value, max) ? `${[...value.slice(0, 2 * max)].slice(0, max - 1).join('')}…` : value;
}
