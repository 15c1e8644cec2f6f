/**
 * Several engines as one. Each sandbox is on the engine that its record names; an id without a record is on whichever has
 * it. An engine that cannot be reached keeps nobody from the others: what is on it is as it was last seen.
 */
import { isFault } from '../model/fault.ts';
import type { EngineName } from '../model/sandbox.ts';
import type { Engine, ProbeRow } from './engine.ts';

export type Engines = { readonly [name in EngineName]: Engine };

/** `engineOf` says which engine a sandbox is on; null for what has no record. */
export function severalEngines(engines: Engines, engineOf: (id: string) => EngineName | null): Engine {
  const all = Object.values(engines);
  const on = (id: string) => engines[engineOf(id) ?? 'local'];
  /** Which engine a sandbox is on never changes, and nothing is asked for as often as a look at it. */
  const known = new Map<string, EngineName>();
  const knownOn = (id: string) => {
    const name = known.get(id) ?? engineOf(id);
    if (name !== null) known.set(id, name);
    return engines[name ?? 'local'];
  };
  return {
    name: 'local',
    probe: async () => (await Promise.all(all.map((engine) => engine.probe()))).flat() as ProbeRow[],
    list: async () => (await Promise.all(all.map(listed))).flat(),
    expect: (id) => on(id).expect(id),
    start: (launch, made) => on(launch.id).start(launch, made),
    inspect: (id, handle) => knownOn(id).inspect(id, handle),
    stop: (id, handle, graceMs) => on(id).stop(id, handle, graceMs),
    remove: async (id, handle) => {
      known.delete(id);
      if (engineOf(id) !== null) return on(id).remove(id, handle);
      for (const engine of all) if ((await listed(engine)).includes(id)) await engine.remove(id, handle);
    },
    pause: (id, handle) => on(id).pause(id, handle),
    resume: (id, handle) => on(id).resume(id, handle),
    exec: (id, handle, spec) => on(id).exec(id, handle, spec),
    attach: (id, handle) => on(id).attach(id, handle),
    logs: (id, options) => on(id).logs(id, options),
    stats: (id, handle) => on(id).stats(id, handle),
    network: (id, handle) => on(id).network(id, handle),
    onChange: (listener) => {
      const forgets = all.map((engine) => engine.onChange(listener));
      return () => {
        for (const forget of forgets) forget();
      };
    },
    dispose: async () => {
      await Promise.all(all.map((engine) => engine.dispose()));
    },
  };
}

async function listed(engine: Engine): Promise<readonly string[]> {
  try {
    return await engine.list();
  } catch (error) {
    if (isFault(error, 'unavailable')) return [];
    throw error;
  }
}

/**
 * An engine that is opened when something on it is asked for, so that whoever does not use it pays nothing for it. `wasUsed`
 * says whether an earlier daemon opened it: then it may hold what no record names.
 */
export function lazyEngine(name: EngineName, open: () => Engine, wasUsed: () => boolean): Engine {
  const listeners = new Set<(id: string) => void>();
  let opened: Engine | null = null;
  const engine = () => {
    if (opened === null) {
      opened = open();
      opened.onChange((id) => {
        for (const listener of listeners) listener(id);
      });
    }
    return opened;
  };
  return {
    name,
    probe: async () => engine().probe(),
    list: async () => (opened !== null || wasUsed() ? engine().list() : []),
    expect: (id) => opened?.expect(id),
    start: async (launch, made) => engine().start(launch, made),
    inspect: async (id, handle) => engine().inspect(id, handle),
    stop: async (id, handle, graceMs) => engine().stop(id, handle, graceMs),
    remove: async (id, handle) => engine().remove(id, handle),
    pause: async (id, handle) => engine().pause(id, handle),
    resume: async (id, handle) => engine().resume(id, handle),
    exec: async (id, handle, spec) => engine().exec(id, handle, spec),
    attach: async (id, handle) => engine().attach(id, handle),
    logs: (id, options) => engine().logs(id, options),
    stats: async (id, handle) => engine().stats(id, handle),
    network: async (id, handle) => engine().network(id, handle),
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    dispose: async () => opened?.dispose(),
  };
}
