/** Imports a root filesystem as an image. It is imported again only when the checksum of its files and settings changed. */
import { Fault } from '../../../model/fault.ts';
import type { BuildEvent, Built, FoundImage, ImageEngine, ImageRecords } from '../image.ts';
import { archiveOfRoot, checksumOfRoot, type RootImage } from './root.ts';

export interface RootImageParts {
  readonly engine: Pick<ImageEngine, 'find' | 'import'>;
  readonly records: Pick<ImageRecords, 'save'>;
  readonly labels: (checksum: string) => Readonly<Record<string, string>>;
  readonly now: () => string;
}

interface Wish {
  readonly say: (event: BuildEvent) => Promise<void>;
  readonly signal: AbortSignal;
}

export async function importRoot(
  { name, members, emptyFolders, settings }: RootImage,
  { engine, records, labels, now }: RootImageParts,
  { say, signal }: Wish,
): Promise<Built> {
  const checksum = await checksumOfRoot([...members, { path: 'settings', mode: 0, text: settings.join('\n') }]);
  const wanted = labels(checksum);
  const isIt = (found: FoundImage | null) =>
    found !== null && Object.entries(wanted).every(([label, value]) => found.labels[label] === value);
  const known = await engine.find(name);
  const built = !isIt(known);
  if (built) {
    await say({ kind: 'phase', text: `building ${name}` });
    const archive = archiveOfRoot(members, emptyFolders);
    for await (const message of engine.import({ archive, tag: name, labels: wanted, settings }, signal)) {
      if (message.kind === 'failure') throw new Fault('unavailable', `the engine refuses ${name}: ${message.message}`);
    }
  }
  const found = built ? await engine.find(name) : known;
  if (!isIt(found)) throw new Fault('unavailable', `the engine did not take ${name}`);
  const image = { name, id: found!.id, source: 'hub' as const, project: null, checksum, at: now() };
  records.save(image);
  return { image, built, notes: [] };
}
