/**
 * The engines of an installation. The record of a sandbox names its engine, and callers get it from `of`; only list,
 * onChange and dispose concern all engines.
 *
 * An engine is opened when it is first needed, so that an installation without sandboxes on it pays nothing. `list`
 * also opens an engine that an earlier daemon has used: it may hold orphans.
 */
import { withTimeout } from '../../lib/flow/with-timeout.ts';
import type { EngineName } from '../../model/engine.ts';
import { isFault } from '../../model/fault.ts';
import type { Engine, EngineOf } from './engine.ts';

export interface EngineSource {
  open(): Engine;
  /** An earlier daemon has opened it. */
  wasUsed(): boolean;
}

/** The time-out of a list: a daemon that starts waits for it. */
const listMs = 5000;

/** A sandbox or its remains in an engine, with or without a record. */
export interface EngineSandbox {
  readonly id: string;
  readonly engine: Engine;
}

export class Engines {
  readonly #sources: { readonly [name in EngineName]: EngineSource };
  readonly #opened = new Map<EngineName, Engine>();
  readonly #listeners = new Set<(id: string) => void>();

  constructor(sources: { readonly [name in EngineName]: EngineSource }) {
    this.#sources = sources;
  }

  readonly of: EngineOf = ({ spec }) => this.named(spec.engine);

  named(name: EngineName): Engine {
    return this.#opened.get(name) ?? this.#open(name);
  }

  #open(name: EngineName): Engine {
    const engine = this.#sources[name].open();
    this.#opened.set(name, engine);
    engine.onChange((id) => {
      for (const listener of this.#listeners) listener(id);
    });
    return engine;
  }

  /** Everything that the engines hold. An engine that cannot be reached or does not answer is left out. */
  async list(): Promise<readonly EngineSandbox[]> {
    const names = Object.keys(this.#sources) as EngineName[];
    const used = names.filter((name) => this.#opened.has(name) || this.#sources[name].wasUsed());
    return (await Promise.all(used.map((name) => sandboxesIn(this.named(name))))).flat();
  }

  /** Also reports changes of engines that are opened later. */
  onChange(listener: (id: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#opened.values()].map((engine) => engine.dispose()));
  }
}

async function sandboxesIn(engine: Engine): Promise<EngineSandbox[]> {
  try {
    const ids = await withTimeout<readonly string[]>(listMs, engine.list(), () => []);
    return ids.map((id) => ({ id, engine }));
  } catch (error) {
    if (isFault(error, 'unavailable') || isFault(error, 'timeout')) return [];
    throw error;
  }
}
