/** Rows of `carrel doctor`. */
import { z } from 'zod';

export const probeRow = z.strictObject({
  name: z.string(),
  level: z.enum(['ok', 'warning', 'failure']),
  detail: z.string(),
  hint: z.string().nullable(),
});
