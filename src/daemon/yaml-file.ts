/** Settings in YAML, checked against a schema. What is wrong is named with the file, its line and the path of the field. */
import type { z } from 'zod';
import { readYaml } from '../lib/yaml.ts';
import { Fault } from '../model/fault.ts';

const hint = 'Mend the file or remove it.';

export function checkYaml<S extends z.ZodType>(path: string, text: string, schema: S): z.output<S> {
  const { content, locate } = readYaml(text, path);
  const result = schema.safeParse(content ?? {});
  if (result.success) return result.data;
  const issue = result.error.issues[0]!;
  const place = issue.path.map((key) => (typeof key === 'number' ? key : String(key)));
  const field = issue.code === 'unrecognized_keys' ? [...place, issue.keys[0]!] : place;
  const where = place.length > 0 ? `${place.join('.')}: ` : '';
  throw new Fault('invalid', `${locate(field).text}: ${where}${issue.message}`, { hint });
}
