/** Values of a query, parsed from text. */
import { z } from 'zod';

export const flag = z.enum(['true', 'false']).transform((text) => text === 'true');
export const count = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);
