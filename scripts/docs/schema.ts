/** A JSON Schema as rows of a table, and its examples as one document. */

export interface JsonSchema {
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface Row {
  /** `network.limits.rate`; `NAME` stands for a name that the user chooses, `[]` for each entry of a list. */
  readonly key: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** Every key of an object, those of objects inside of it included. */
export function rowsOf(schema: JsonSchema, prefix = ''): Row[] {
  const object = objectIn(schema);
  if (!object) return [];
  const required = new Set(object.required ?? []);
  const own = Object.entries(object.properties ?? {}).flatMap(([name, value]) =>
    rowsAt(`${prefix}${name}`, value, required.has(name)),
  );
  const named = typeof object.additionalProperties === 'object' ? object.additionalProperties : null;
  return [...own, ...(named ? rowsOf(named, `${prefix}NAME.`) : [])];
}

function rowsAt(key: string, schema: JsonSchema, required: boolean): Row[] {
  const items = objectIn(schema.items ?? {});
  const below = items ? rowsOf(items, `${key}[].`) : rowsOf(schema, `${key}.`);
  return isSection(schema) ? below : [{ key, schema, required }, ...below];
}

/** An object whose keys are rows of their own, so that it needs no row. */
function isSection(schema: JsonSchema): boolean {
  return rowsOf(schema).length > 0;
}

/** The object that a schema is, or that it is where it is not null. */
function objectIn(schema: JsonSchema): JsonSchema | null {
  if (schema.type === 'object') return schema;
  const objects = (schema.anyOf ?? []).filter(({ type }) => type !== 'null');
  return objects.length === 1 && objects[0]!.type === 'object' ? objects[0]! : null;
}

/** `whole number, 1 to 100`, `one of local, docker`, `list of text`. */
export function typeText(schema: JsonSchema): string {
  if (schema.title) return schema.title;
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum) return schema.enum.map(code).join(', ');
  if (schema.anyOf) return unionText(schema.anyOf);
  if (schema.type === 'array') return `list of ${typeText(schema.items ?? {})}`;
  if (schema.type === 'object') return mapText(schema);
  if (schema.type === 'integer' || schema.type === 'number') return numberText(schema);
  return { string: 'text', boolean: 'true or false', null: 'null' }[schema.type ?? ''] ?? 'any';
}

function unionText(types: readonly JsonSchema[]): string {
  const isSize = types.length === 2 && types.some(({ type }) => type === 'string') && types.some(isInteger);
  return isSize ? 'size' : [...new Set(types.map(typeText))].join(' or ');
}

function isInteger({ type }: JsonSchema): boolean {
  return type === 'integer';
}

function mapText({ additionalProperties, properties }: JsonSchema): string {
  if (properties || typeof additionalProperties !== 'object') return 'object';
  return `map of ${typeText(additionalProperties)}`;
}

function numberText({ type, minimum, maximum }: JsonSchema): string {
  const name = type === 'integer' ? 'whole number' : 'number';
  const isBounded = minimum !== undefined && maximum !== undefined && Math.abs(maximum) < Number.MAX_SAFE_INTEGER;
  return isBounded ? `${name}, ${minimum} to ${maximum}` : name;
}

export function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

/** A cell of a Markdown table. */
export function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

/** One value that has every key, made of the examples of the keys. `name` stands for the names that users choose. */
export function exampleOf(schema: JsonSchema, name: string): unknown {
  if (schema.examples) return schema.examples[0];
  const object = objectIn(schema);
  if (!object) throw new Error(`no example: ${JSON.stringify(schema)}`);
  const own = Object.entries(object.properties ?? {}).map(([key, value]) => [key, exampleOf(value, name)]);
  const named = object.additionalProperties;
  return Object.fromEntries(typeof named === 'object' ? [...own, [name, exampleOf(named, name)]] : own);
}
