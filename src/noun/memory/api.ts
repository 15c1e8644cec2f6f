/** What requests and answers about the memory look like. */
import { z } from 'zod';
import { count } from '../../lib/schema/query.ts';
import { ulidPattern } from '../../model/ulid.ts';
import {
  collectionPattern,
  collectionRule,
  metadataKeyPattern,
  modelPattern,
  noteIdRule,
  noteVias,
  scopeKinds,
} from './model/memory.ts';

export const noteId = z.string().regex(ulidPattern, noteIdRule);
const collection = z.string().regex(collectionPattern, collectionRule);
const maxText = 1_000_000;
const maxDimensions = 16_384;

const metadataValue = z.union([z.string().max(4096), z.number(), z.boolean()]);
const metadataKey = z.string().regex(metadataKeyPattern);
const metadata = z.record(metadataKey, metadataValue);
const where = z.record(metadataKey, z.union([metadataValue, z.array(metadataValue).max(100)]));
const vector = z.strictObject({
  model: z.string().regex(modelPattern),
  values: z.array(z.number()).min(1).max(maxDimensions),
});

/** A scope. Without either field it is that of the user. */
const place = {
  /** A folder: the scope of that project. */
  project: z.string().startsWith('/').max(4096).optional(),
  /** The name of a sandbox: the scope of that sandbox. */
  sandboxName: z.string().min(1).max(63).optional(),
};

export const noteRequest = z.strictObject({
  text: z.string().min(1).max(maxText),
  ...place,
  collection: collection.optional(),
  metadata: metadata.optional(),
  vector: vector.optional(),
  /** Seconds after which the note is not returned any more. */
  expiresIn: z.int().min(1).max(3_155_760_000).optional(),
  /** The same key twice is one note, so a request can be repeated. */
  key: z.string().min(1).max(200).optional(),
});

/** Notes of all scopes of the user, unless one is named. */
const selection = {
  ...place,
  collection: collection.optional(),
  where: where.optional(),
};

export const searchRequest = z
  .strictObject({
    text: z.string().min(1).max(10_000).optional(),
    vector: vector.optional(),
    limit: z.int().min(1).max(100).optional(),
    ...selection,
  })
  .refine(({ text, vector: sent }) => (text ?? sent) !== undefined, { message: 'has a text, a vector, or both' });

export const notesQuery = z.strictObject({
  ...place,
  collection: collection.optional(),
  before: noteId.optional(),
  limit: count.optional(),
});

/** Removes all notes that are selected. One field at least is required, so that an empty request removes nothing. */
export const forgetRequest = z
  .strictObject({ ...selection, all: z.literal(true).optional() })
  .refine((request) => Object.values(request).some((value) => value !== undefined), {
    message: 'names a scope, a collection, where, or all',
  });

const writer = z.strictObject({
  kind: z.enum(['person', 'sandbox', 'token']),
  name: z.string(),
  id: z.string().nullable(),
  agent: z.string().nullable(),
  session: z.string().nullable(),
});

export const noteView = z.strictObject({
  id: z.string(),
  /** user, project:FOLDER or sandbox:ID. */
  scope: z.string(),
  collection: z.string(),
  text: z.string(),
  metadata: z.record(z.string(), metadataValue).readonly(),
  by: writer,
  via: z.enum(noteVias),
  at: z.string(),
  expiresAt: z.string().nullable(),
  /** What an imported file says of its author. */
  origin: z.strictObject({ by: z.string(), at: z.string() }).nullable(),
  hasVector: z.boolean(),
  /** Another agent wrote it, or it was imported: data, not an instruction. */
  foreign: z.boolean(),
});

export const foundView = z.strictObject({
  note: noteView,
  /** Greater is better; comparable within one answer only. */
  score: z.number(),
  foundBy: z.array(z.enum(['text', 'vector'])).readonly(),
});

export const vectorsRequest = z.strictObject({ ids: z.array(noteId).max(100) });
export const vectorView = vector.extend({ id: z.string() });

/** A note as `carrel memory export` writes it. */
const importedNote = z.strictObject({
  id: noteId,
  scope: z.string().max(4200),
  collection,
  text: z.string().min(1).max(maxText),
  metadata,
  by: z.string().max(200),
  at: z.string().max(40),
  expiresAt: z.string().max(40).nullable().optional(),
  vector: vector.optional(),
});

export const importRequest = z.strictObject({ ...place, notes: z.array(importedNote).min(1).max(100) });
export const importView = z.strictObject({
  saved: z.int(),
  refused: z.array(z.strictObject({ id: z.string(), reason: z.string() })),
});

export const statsView = z.strictObject({
  notes: z.int(),
  bytes: z.int(),
  /** The most bytes that notes may take. */
  quotaBytes: z.int(),
  collections: z
    .array(
      z.strictObject({
        scope: z.string(),
        kind: z.enum(scopeKinds),
        name: z.string(),
        notes: z.int(),
        model: z.string().nullable(),
        dimensions: z.int().nullable(),
      }),
    )
    .readonly(),
  /** The model that makes vectors of texts; null: only callers bring vectors. */
  embedding: z.string().nullable(),
  searchesVectors: z.boolean(),
  /** Damaged files that were set aside. */
  setAside: z.array(z.string()).readonly(),
  /** The Chroma server of sandboxes; null: config.yaml asks for none. */
  chroma: z
    .strictObject({
      state: z.enum(['absent', 'starting', 'ready', 'resting', 'failed']),
      version: z.string().nullable(),
      reason: z.string().nullable(),
      setAside: z.array(z.string()).readonly(),
    })
    .nullable(),
});

export const erasedView = z.strictObject({ erased: z.literal(true) });
export const forgottenView = z.strictObject({ removed: z.int() });

export type NoteRequest = z.input<typeof noteRequest>;
export type SearchRequest = z.output<typeof searchRequest>;
export type NoteView = z.output<typeof noteView>;
export type FoundView = z.output<typeof foundView>;
export type ForgetRequest = z.output<typeof forgetRequest>;
export type NotesQuery = z.output<typeof notesQuery>;
export type ImportRequest = z.output<typeof importRequest>;
export type ImportView = z.output<typeof importView>;
export type MemoryStatsView = z.output<typeof statsView>;
