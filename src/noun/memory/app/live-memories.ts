/** The memories of all users that this daemon has open, each opened when it is first used. */
import { join } from 'node:path';
import { asFault, type Fault } from '../../../model/fault.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import { userHash } from '../../volume/model.ts';
import { type Embedder, EndpointEmbedder } from '../embedding/embedding.ts';
import { PackageEmbedder } from '../embedding/package-embedder.ts';
import type { EmbeddingSettings, Memories, Memory, MemorySettings, RemoteSettings } from '../memory.ts';

export interface LiveMemoriesParts {
  readonly memories: Memories;
  /** The folder that has one folder per user. */
  readonly folder: string;
  readonly settings: () => MemorySettings;
  readonly users: () => readonly string[];
  /** The headers with the credential of the owner, for a host. */
  readonly headers: (settings: RemoteSettings) => Readonly<Record<string, string>>;
  /** The folder of the package with weights; null: it is not installed. */
  readonly weights: () => string | null;
  readonly report: (id: string, fault: Fault) => void;
}

const expireMs = 3_600_000;

export class LiveMemories {
  readonly #parts: LiveMemoriesParts;
  #embedder: { readonly of: string; readonly embedder: Embedder } | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: LiveMemoriesParts) {
    this.#parts = parts;
  }

  open(user: string): Promise<Memory> {
    const { memories, folder, settings } = this.#parts;
    return memories.open(join(folder, userHash(user)), settings().limits);
  }

  embedder(): Embedder | null {
    const { embedding } = this.#parts.settings();
    if (embedding === null) return null;
    const of = JSON.stringify(embedding);
    if (this.#embedder?.of !== of) {
      void this.#embedder?.embedder.close();
      this.#embedder = { of, embedder: this.#newEmbedder(embedding) };
    }
    return this.#embedder.embedder;
  }

  #newEmbedder(embedding: EmbeddingSettings): Embedder {
    const { headers, weights } = this.#parts;
    if (embedding.kind === 'package') return new PackageEmbedder({ model: embedding.model, folder: weights });
    const { url, model } = embedding;
    return new EndpointEmbedder({ url, model, headers: () => headers(embedding) });
  }

  start(): void {
    this.#timer = setInterval(() => void this.#expire(), expireMs);
    this.#timer.unref();
  }

  /** M15: called when a sandbox is removed; removes the notes of its own scope. */
  async release(sandbox: Sandbox): Promise<void> {
    const { id, spec } = sandbox;
    if (!spec.memoryScopes?.some(({ scope }) => scope === 'sandbox')) return;
    await (await this.open(spec.user)).removeAll({ scopes: [`sandbox:${id}`] });
  }

  async dispose(): Promise<void> {
    clearInterval(this.#timer ?? undefined);
    await this.#embedder?.embedder.close();
    await this.#parts.memories.close();
  }

  async #expire(): Promise<void> {
    const { users, settings, report } = this.#parts;
    for (const user of users()) {
      try {
        await (await this.open(user)).expire(new Date(), settings().keepDays);
      } catch (error) {
        report(`memory of ${user}`, asFault(error));
      }
    }
  }
}
