/** What requests and answers about images look like. */
import { z } from 'zod';

export const buildRequest = z.strictObject({
  /** Left out: only the base image is built. */
  project: z.string().min(1).max(4096).optional(),
  /** Build the image of the hub instead. */
  hub: z.boolean().optional(),
  /** The build has no network. */
  offline: z.boolean().optional(),
});

export const removeImageRequest = z.strictObject({ name: z.string().min(1).max(512) });

export const imageView = z.strictObject({
  name: z.string(),
  source: z.enum(['base', 'project', 'hub', 'listed']),
  /** The id behind the name; null: it was not used yet. */
  id: z.string().nullable(),
  project: z.string().nullable(),
  checksum: z.string().nullable(),
  /** When it was made, or first used. */
  at: z.string().nullable(),
  /** `moved`: under that name the engine has another image than the allowed one. */
  state: z.enum(['ready', 'missing', 'moved']),
  sizeBytes: z.int().nullable(),
});

/** The progress frames of a build; `result` comes last. */
export const buildEvent = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('phase'), text: z.string() }),
  z.strictObject({ kind: z.literal('step'), number: z.int(), total: z.int(), title: z.string() }),
  z.strictObject({ kind: z.literal('output'), text: z.string() }),
]);

export const builtView = z.strictObject({
  image: imageView,
  /** False: the image was up to date already. */
  built: z.boolean(),
  notes: z.array(z.string()),
});

export type BuildRequest = z.input<typeof buildRequest>;
export type BuildEventView = z.output<typeof buildEvent>;
export type BuiltView = z.output<typeof builtView>;
export type ImageView = z.output<typeof imageView>;
