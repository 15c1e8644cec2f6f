/** Of config.yaml: limits of the memory, and where vectors of texts come from. */
import { z } from 'zod';
import { defaultMemoryLimits as defaults, type MemoryLimits, modelPattern } from '../../model/memory.ts';
import { type At, bytes, section, sizeKey } from '../section.ts';

export interface EmbeddingSettings {
  readonly url: string;
  readonly model: string;
  /** Of the owner; null: the endpoint needs none. */
  readonly credential: string | null;
}

export interface MemorySettings {
  readonly limits: MemoryLimits;
  readonly keepDays: number | null;
  readonly embedding: EmbeddingSettings | null;
}

const embedding = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/, error: 'use an address that begins with http:// or https://' })
      .max(2000)
      .meta({
        description: 'An endpoint with the embeddings API of OpenAI, without /embeddings.',
        examples: ['https://api.openai.com/v1'],
      }),
    model: z
      .string()
      .regex(modelPattern)
      .meta({ description: 'The name of the model.', examples: ['text-embedding-3-small'] }),
    credential: z
      .string()
      .min(1)
      .max(63)
      .meta({
        description: 'The credential of the owner with the key for that host. Default: none.',
        examples: ['openai'],
      })
      .optional(),
  })
  .describe('Makes vectors of notes and of searches. Default: only callers bring vectors.');

const schema = z
  .strictObject({
    size: sizeKey('All notes of one user, with metadata and vectors.', defaults.totalBytes, '4g'),
    noteSize: sizeKey('The text of one note, at most 200k.', defaults.noteBytes, '16k'),
    keepDays: z
      .int()
      .min(1)
      .max(36_500)
      .meta({ description: 'Removes notes that are older. Default: notes are kept.', examples: [365] }),
    embedding,
  })
  .partial()
  .describe('The memory of agents.');

const mostNoteBytes = 200 * 1024;

export const memoryConfig = [
  section('memory', {
    schema: schema.optional(),
    read: (content, at) => ({ memory: settingsOf(content ?? {}, at) }),
  }),
] as const;

function settingsOf({ size, noteSize, keepDays, embedding: made }: z.output<typeof schema>, at: At): MemorySettings {
  const sized = (value: string | number | undefined, key: string, known: number) =>
    value === undefined ? known : at(key, () => bytes(value, key));
  return {
    limits: {
      ...defaults,
      totalBytes: sized(size, 'memory.size', defaults.totalBytes),
      noteBytes: Math.min(mostNoteBytes, sized(noteSize, 'memory.noteSize', defaults.noteBytes)),
    },
    keepDays: keepDays ?? null,
    embedding: made === undefined ? null : { ...made, credential: made.credential ?? null },
  };
}
