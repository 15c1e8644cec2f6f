/**
 * The image of the hub that `carrel compose` renders: Carrel, Node and what both need, imported as a root filesystem.
 * There is no shell in it. It is imported again only when the checksum of its files and settings changed.
 */
import { Fault } from '../../../model/fault.ts';
import { hubImageName, hubToolsPath } from '../../hub/model/container.ts';
import type { BuildEvent, Built, FoundImage, ImageEngine, ImageRecords } from '../image.ts';
import { archiveOfRoot, checksumOfRoot, type RootMember } from './root.ts';

export interface HubImageParts {
  readonly engine: Pick<ImageEngine, 'find' | 'import'>;
  readonly records: Pick<ImageRecords, 'save'>;
  readonly labels: (checksum: string) => Readonly<Record<string, string>>;
  readonly now: () => string;
}

interface Wish {
  readonly say: (event: BuildEvent) => Promise<void>;
  readonly signal: AbortSignal;
}

const folders = ['home/agent', 'tmp', 'run/carrel'];

const settings = [
  'USER 1000:1000',
  'WORKDIR /home/agent',
  'EXPOSE 3000',
  `ENV PATH=/usr/bin HOME=/home/agent CARREL_HOME=/home/agent/.carrel LD_LIBRARY_PATH=${hubToolsPath}/node/lib`,
  'ENTRYPOINT ["/usr/bin/node", "/usr/lib/carrel/dist/program/hub-container.js"]',
];

export async function buildHubImage(
  members: readonly RootMember[],
  { engine, records, labels, now }: HubImageParts,
  { say, signal }: Wish,
): Promise<Built> {
  const checksum = await checksumOfRoot([...members, { path: 'settings', mode: 0, text: settings.join('\n') }]);
  const wanted = labels(checksum);
  const isIt = (found: FoundImage | null) =>
    found !== null && Object.entries(wanted).every(([name, value]) => found.labels[name] === value);
  const known = await engine.find(hubImageName);
  const built = !isIt(known);
  if (built) {
    await say({ kind: 'phase', text: `building ${hubImageName}` });
    const archive = archiveOfRoot(members, folders);
    for await (const message of engine.import({ archive, tag: hubImageName, labels: wanted, settings }, signal)) {
      if (message.kind === 'failure')
        throw new Fault('unavailable', `the engine refuses ${hubImageName}: ${message.message}`);
    }
  }
  const found = built ? await engine.find(hubImageName) : known;
  if (!isIt(found)) throw new Fault('unavailable', `the engine did not take ${hubImageName}`);
  const image = { name: hubImageName, id: found!.id, source: 'hub' as const, project: null, checksum, at: now() };
  records.save(image);
  return { image, built, notes: [] };
}
