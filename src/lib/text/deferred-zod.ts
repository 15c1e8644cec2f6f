/**
 * zod whose schemas are constructed when they are first used: the build puts it in the place of zod in the daemon (decision 86). The
 * daemon has thousands of schemas, and a start needs few.
 *
 * A deferred schema remembers the call that makes it. A call that only describes another schema (`optional`, `max`) is deferred, too; anything
 * else, such as `safeParse`, `shape` or `instanceof`, constructs the schema and uses it.
 */
import { z as zod } from 'zod';

type Call = (...args: readonly unknown[]) => unknown;

const makers = [
  ...['array', 'base64', 'boolean', 'discriminatedUnion', 'enum', 'int', 'literal', 'looseObject', 'number', 'object'],
  ...['record', 'strictObject', 'string', 'stringbool', 'union', 'unknown', 'url'],
];
/** Methods that return a new schema and have no other effect. */
const describers = [
  ...[
    'optional',
    'nullable',
    'nullish',
    'default',
    'describe',
    'meta',
    'refine',
    'superRefine',
    'transform',
    'readonly',
  ],
  ...['min', 'max', 'length', 'regex', 'startsWith', 'endsWith', 'positive', 'nonnegative', 'multipleOf', 'trim'],
  ...['extend', 'pick', 'omit', 'partial', 'strict', 'or', 'and', 'array'],
];

class Deferred {
  readonly #of: Deferred | typeof zod;
  readonly #name: string;
  readonly #args: readonly unknown[];
  #schema: object | null = null;

  constructor(of: Deferred | typeof zod, name: string, args: readonly unknown[]) {
    this.#of = of;
    this.#name = name;
    this.#args = args;
  }

  static schemaOf(deferred: Deferred): object {
    deferred.#schema ??= deferred.#construct();
    return deferred.#schema;
  }

  #construct(): object {
    const on = this.#of instanceof Deferred ? Deferred.schemaOf(this.#of) : this.#of;
    return (on as unknown as Readonly<Record<string, Call>>)[this.#name]!(...this.#args.map(constructed)) as object;
  }
}

/** Constructs the deferred schemas in an argument: itself, the items of a list, and the fields of an object. */
function constructed(argument: unknown): unknown {
  if (argument instanceof Deferred) return Deferred.schemaOf(argument);
  if (Array.isArray(argument)) return argument.map(constructed);
  if (typeof argument !== 'object' || argument === null || Object.getPrototypeOf(argument) !== Object.prototype)
    return argument;
  return Object.fromEntries(Object.entries(argument).map(([key, value]) => [key, constructed(value)]));
}

for (const name of describers) {
  Object.defineProperty(Deferred.prototype, name, {
    value(this: Deferred, ...args: unknown[]) {
      return new Deferred(this, name, args);
    },
  });
}

/** A property that a deferred schema does not have itself is looked up here; `receiver` is the deferred schema. */
Object.setPrototypeOf(
  Deferred.prototype,
  new Proxy(Object.prototype, {
    get: (_, key, receiver) => {
      const schema = Deferred.schemaOf(receiver as Deferred);
      const value: unknown = Reflect.get(schema, key);
      return typeof value === 'function' ? value.bind(schema) : value;
    },
    // Other packages recognise a schema by these properties.
    has: (_, key) => key === '_zod' || key === '~standard' || key === 'parse' || key === 'safeParse',
  }),
);

const deferring = Object.fromEntries(
  makers.map((name) => [name, (...args: unknown[]) => new Deferred(zod, name, args)]),
);

/** All other functions of zod get constructed schemas. */
const others = new Proxy(zod, {
  get: (target, key) => {
    const value: unknown = Reflect.get(target, key);
    const isFunction = typeof value === 'function' && typeof key === 'string' && /^[a-z]/.test(key);
    return isFunction ? (...args: unknown[]) => (value as Call)(...args.map(constructed)) : value;
  },
});

export const z = Object.create(others, Object.getOwnPropertyDescriptors(deferring)) as object;
