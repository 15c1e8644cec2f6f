/** Events of the store. */
import { z } from 'zod';

export const eventView = z.strictObject({
  seq: z.int(),
  at: z.string(),
  type: z.string(),
  subject: z.string(),
  data: z.record(z.string(), z.unknown()),
});
