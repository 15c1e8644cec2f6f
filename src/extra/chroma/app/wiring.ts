/** Constructs the broker of Chroma. */
import { join } from 'node:path';
import type { ConfiguredKernel } from '../../../kernel/daemon/resources.ts';
import { installedAt } from '../../../noun/memory/app/packages.ts';
import { volumeName } from '../../../noun/volume/model.ts';
import { BrokerProcess } from '../broker-process.ts';
import type { Chroma } from '../chroma.ts';
import { chromaSocket, placeOf } from './part.ts';
import { type PlanParts, planOf } from './plan.ts';

type ChromaParts = ConfiguredKernel & Pick<PlanParts, 'volumes' | 'headers'>;

export function openChroma(parts: ChromaParts): Chroma {
  const { config, store } = parts;
  const { home } = parts.home;
  const folder = join(home, 'chroma');
  return new BrokerProcess({
    folder,
    socket: chromaSocket(home),
    plan: () =>
      planOf(config.memory.chroma, {
        ...parts,
        folder,
        volume: chromaVolume(parts),
        installed: () => installedAt(home, 'chroma'),
      }),
    placeOf: (id) => {
      const sandbox = store.get('sandbox', id)?.value;
      return sandbox === undefined ? null : placeOf(parts, sandbox);
    },
  });
}

export function chromaVolume({ config, owner }: ConfiguredKernel): string {
  return volumeName(config.volumePrefix, 'chromadb', owner);
}
