import { expect, it } from 'vitest';
import { z as zod } from 'zod';
import { z as deferred } from './deferred-zod.ts';

/** The build puts this in the place of zod. */
const z = deferred as unknown as typeof zod;

/** The result with deferred zod and with zod. */
function both<T>(make: (z: typeof zod) => T): [T, T] {
  return [make(z), make(zod)];
}

const person = (z: typeof zod) => {
  const name = z.string().min(1).max(5).describe('a name');
  const base = z.strictObject({ name, kind: z.enum(['a', 'b']).default('a'), tags: z.array(z.string()).optional() });
  return base.extend({ age: z.int().nullable(), more: z.record(z.string(), z.unknown()).meta({ title: 'more' }) });
};

it('a deferred schema accepts and refuses the same values as a schema of zod', () => {
  const [one, other] = both(person);
  for (const value of [
    { name: 'ada', age: 1, more: {} },
    { name: '', age: 'x' },
    { name: 'adaadaada', extra: 1 },
    null,
  ])
    expect(one.safeParse(value)).toEqual(other.safeParse(value));
});

it('a deferred schema has the same JSON schema as a schema of zod', () => {
  const [one, other] = both((each) => each.toJSONSchema(person(each), { io: 'input' }));
  expect(one).toEqual(other);
});

it('the parts of a deferred schema, and schemas derived from it, are schemas of zod', () => {
  const schema = person(z);
  expect(schema).toBeInstanceOf(zod.ZodObject);
  expect('_zod' in schema).toBe(true);
  expect(schema.shape.age.unwrap()).toBeInstanceOf(zod.ZodNumber);
  expect(Object.keys(person(z).pick({ name: true }).shape)).toEqual(['name']);
  const rest = z.strictObject({ ...schema.shape, other: z.literal('x') });
  expect(rest.safeParse({ name: 'ada', age: null, more: {}, other: 'x' }).success).toBe(true);
});

it('unions, transformations and refinements are constructed with their parts', () => {
  const [one, other] = both((each) =>
    each.discriminatedUnion('kind', [
      each.object({ kind: each.literal('n'), value: each.number().refine((value) => value > 1, 'too small') }),
      each.object({ kind: each.literal('s'), value: each.string().transform((text) => text.length) }),
    ]),
  );
  for (const value of [{ kind: 'n', value: 2 }, { kind: 'n', value: 0 }, { kind: 's', value: 'abc' }, { kind: 'x' }])
    expect(one.safeParse(value)).toEqual(other.safeParse(value));
});

it('functions of zod that are not deferred get constructed schemas', () => {
  expect(z.lazy(() => person(z)).safeParse({ name: 'ada', age: null, more: {} }).success).toBe(true);
  expect(z.tuple([z.string(), z.int()]).safeParse(['a', 1]).success).toBe(true);
});

it('nothing is constructed before a schema is used', () => {
  let looked = 0;
  const shape = {
    get field() {
      looked += 1;
      return z.string();
    },
  };
  const schema = z.strictObject(shape).partial();
  expect(looked).toBe(0);
  expect(schema.safeParse({}).success).toBe(true);
  expect(looked).toBe(1);
});

it('a strict object refuses unknown fields wherever it is a part', () => {
  const a = z.strictObject({ a: z.string() });
  const known = [{ a: 'x' }, { a: 'x', q: 1 }] as const;
  const wrapped = [
    { schema: a, wrap: (value: unknown) => value },
    { schema: a.extend({ b: z.int().optional() }), wrap: (value: unknown) => value },
    { schema: a.partial(), wrap: (value: unknown) => value },
    { schema: a.refine(() => true), wrap: (value: unknown) => value },
    { schema: z.union([a, a.extend({ b: z.int() })]), wrap: (value: unknown) => value },
    { schema: z.array(a), wrap: (value: unknown) => [value] },
    { schema: z.record(z.string(), a), wrap: (value: unknown) => ({ key: value }) },
    { schema: z.strictObject({ n: a.nullable().default({ a: 'd' }) }), wrap: (value: unknown) => ({ n: value }) },
  ];
  for (const { schema, wrap } of wrapped)
    expect(known.map((value) => schema.safeParse(wrap(value)).success)).toEqual([true, false]);
});
