/** Values that several parts of a carrel.yaml have. */
import { z } from 'zod';
import { secretNamePattern } from '../../user/model.ts';

export const maxEntries = 500;

export function isShort(entries: object): boolean {
  return Object.keys(entries).length <= maxEntries;
}

export const secretName = z
  .string()
  .regex(secretNamePattern, 'use 1 to 64 of letters, digits, "_", "." and "-", starting with a letter or digit');

export const text = z
  .string()
  .regex(/^[^\x00]*$/, 'it cannot hold a NUL byte')
  .max(131_072);

/** A program and its arguments. */
export const argv = z.array(text).min(1).max(4096);
