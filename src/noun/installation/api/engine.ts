/** Engines. */
import { z } from 'zod';
import { engineNames } from '../../../model/engine.ts';

export const engineView = z.strictObject({
  name: z.enum(engineNames),
  usable: z.boolean(),
  version: z.string().nullable(),
  /** The default runtime. */
  runtime: z.string().nullable(),
  /** The runtimes that `--runtime` may name. */
  runtimes: z.array(z.string()),
  at: z.string().nullable(),
  /** Why it is not usable, and what to do about it. */
  reason: z.string().nullable(),
  hint: z.string().nullable(),
});

export type EngineView = z.output<typeof engineView>;
