/** Settings in YAML, checked against a schema. What is wrong is named with the file and the path of the field. */
import { parse } from 'yaml';
import type { z } from 'zod';
import { Fault } from '../model/fault.ts';

const hint = 'Mend the file or remove it.';

export function checkYaml<S extends z.ZodType>(path: string, text: string, schema: S): z.output<S> {
  const result = schema.safeParse(parsed(path, text));
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const where = issue.path.length > 0 ? `${issue.path.join('.')}: ` : '';
  throw new Fault('invalid', `${path}: ${where}${issue.message}`, { hint });
}

function parsed(path: string, text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 10 }) ?? {};
  } catch (error) {
    throw new Fault('invalid', `${path}: ${(error as Error).message.split('\n')[0]}`, { hint, cause: error });
  }
}
