/** Constructs the broker of Chroma. */
import { join } from 'node:path';
import { placeOf } from '../app/memory/chroma-place.ts';
import { type PlanParts, planOf } from '../app/memory/chroma-plan.ts';
import { chromaSocket } from '../app/memory/services.ts';
import { BrokerProcess } from '../chroma/broker-process.ts';
import type { Chroma } from '../chroma/chroma.ts';
import { volumeName } from '../model/volume.ts';
import type { Resources } from './resources.ts';

type ChromaParts = Pick<Resources, 'home' | 'config' | 'store' | 'owner' | 'now'> &
  Pick<PlanParts, 'volumes' | 'headers'>;

export function openChroma(parts: ChromaParts): Chroma {
  const { config, store } = parts;
  const { home } = parts.home;
  const folder = join(home, 'chroma');
  return new BrokerProcess({
    folder,
    socket: chromaSocket(home),
    plan: () => planOf(config.memory.chroma, { ...parts, home, folder, volume: chromaVolume(parts) }),
    placeOf: (id) => {
      const sandbox = store.get('sandbox', id)?.value;
      return sandbox === undefined ? null : placeOf(parts, sandbox);
    },
  });
}

export function chromaVolume({ config, owner }: Pick<Resources, 'config' | 'owner'>): string {
  return volumeName(config.volumePrefix, 'chromadb', owner);
}
