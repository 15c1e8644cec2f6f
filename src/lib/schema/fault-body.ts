/** The answer of a refused request. */
import { z } from 'zod';

export const faultBody = z.strictObject({
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  data: z.record(z.string(), z.unknown()).optional(),
});
