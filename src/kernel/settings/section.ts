/**
 * A key of config.yaml, declared by the noun that uses it: schema with description, default and example (`docs/config.md` is made of
 * them), and the values that the daemon works with. Defaults that the schema does not apply are resolved by `read`.
 */
import { z } from 'zod';
import { Fault } from '../../model/fault.ts';
import { formatSize, parseSize } from '../../model/size.ts';
import { defaultLog, type LogLimits } from '../engine/engine.ts';
import type { CheckedYaml } from './yaml-file.ts';

/** Runs a check of a field: its refusal gets the file and the line. */
export type At = CheckedYaml<unknown>['at'];

export interface ConfigSection<V extends object = object> {
  readonly key: string;
  readonly schema: z.ZodType;
  readonly read: (content: never, at: At) => V;
  /** Values that are used when the daemon starts, with their names in config.yaml: a change waits for the next start. */
  readonly atStart?: { readonly [K in keyof V]?: string };
}

interface Declaration<T extends z.ZodType, V extends object> extends Omit<ConfigSection<V>, 'key'> {
  readonly schema: T;
  readonly read: (content: z.output<T>, at: At) => V;
}

export function section<T extends z.ZodType, V extends object>(
  key: string,
  declared: Declaration<T, V>,
): ConfigSection<V> {
  return { key, ...declared } as ConfigSection<V>;
}

export const size = z.union([z.string(), z.int().positive()]);
export const path = z.string().startsWith('/').max(4096);

/** If `bytes` is null, the description says what applies by default. */
export const sizeKey = (description: string, bytes: number | null, example: string) =>
  size.meta({
    title: 'size',
    description,
    ...(bytes === null ? {} : { default: formatSize(bytes).replace('.0', '').toLowerCase() }),
    examples: [example],
  });

export function bytes(value: string | number, field: string): number {
  return typeof value === 'number' ? value : parseSize(value, field);
}

export const rotation = z
  .strictObject({
    size: sizeKey('The size at which a file is rotated: 64k to 1t.', defaultLog.maxBytes, '50m'),
    files: z
      .int()
      .min(1)
      .max(100)
      .meta({ description: 'How many files are kept.', default: defaultLog.files, examples: [10] }),
  })
  .partial();

/** At least enough for a few lines, at most the size of a disk. */
const fileBytes = { least: 64 * 1024, most: 1024 ** 4 };

export function rotationOf(content: z.output<typeof rotation> = {}, what: string): LogLimits {
  const maxBytes = bytes(content.size ?? defaultLog.maxBytes, `${what}.size`);
  if (maxBytes >= fileBytes.least && maxBytes <= fileBytes.most) {
    return { maxBytes, files: content.files ?? defaultLog.files };
  }
  throw new Fault('invalid', `${what}.size: ${formatSize(maxBytes)} is out of range`, {
    hint: `Between ${formatSize(fileBytes.least)} and ${formatSize(fileBytes.most)}.`,
  });
}
