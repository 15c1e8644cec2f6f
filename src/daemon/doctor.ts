import type { Engine, ProbeRow } from '../engine/engine.ts';

export interface Doctor {
  examine(): Promise<ProbeRow[]>;
}

export function createDoctor(engine: Engine): Doctor {
  return { examine: async () => [...(await engine.probe())] };
}
