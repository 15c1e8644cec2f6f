/** The MCP package converts a schema to JSON Schema in every server that it makes, which over HTTP is every request. Here it is converted once. */
import type { z } from 'zod';

type Standard = z.ZodObject['~standard'];
type Convert = Standard['jsonSchema']['input'];

const known = new WeakMap<z.ZodObject, { readonly '~standard': Standard }>();

export function cachedJsonSchema(schema: z.ZodObject): { readonly '~standard': Standard } {
  const found = known.get(schema);
  if (found) return found;
  const standard = schema['~standard'];
  const { input, output } = standard.jsonSchema;
  const jsonSchema = { input: once(input), output: once(output) };
  const made = { '~standard': { ...standard, jsonSchema } };
  known.set(schema, made);
  return made;
}

/** The first result is kept: the package always asks for the same target. */
function once(convert: Convert): Convert {
  let converted: ReturnType<Convert> | undefined;
  return (options) => {
    converted ??= convert(options);
    return converted;
  };
}
