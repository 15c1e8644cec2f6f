/** Secrets: names and sizes, never values. */
import { z } from 'zod';
import { secretNamePattern } from '../model.ts';

export const secretName = z.string().regex(secretNamePattern);

export const secretView = z.strictObject({ name: z.string(), updatedAt: z.string(), sizeBytes: z.int() });

export type SecretView = z.output<typeof secretView>;
