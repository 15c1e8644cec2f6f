/**
 * The owner's settings: HOME/config.yaml, made of the sections that nouns declare. All keys are optional; unknown keys
 * are refused with their path.
 */
import { z } from 'zod';
import { readIfThere } from '../../lib/file/file.ts';
import { type Config, sections } from '../../noun/app.ts';
import type { At } from './section.ts';
import { openYaml } from './yaml-file.ts';

export const configSchema = z.strictObject(Object.fromEntries(sections.map(({ key, schema }) => [key, schema])));

/** Throws a Fault that names the file and the line of a mistake. */
export function readConfig(path: string): Config {
  const { content, at } = openYaml(path, readIfThere(path) ?? '', configSchema);
  const values = sections.map(({ key, read }) => (read as (content: unknown, at: At) => object)(content[key], at));
  return Object.assign({}, ...values) as Config;
}
