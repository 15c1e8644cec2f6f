/**
 * How the Docker Engine sees our folders. Beside us it sees them under the same paths. When we are in a container ourselves
 * and talk to the engine that made it, our paths mean nothing to it: then what is mounted into our container is known to
 * it under other names, and the rest not at all. Which of them is so is not believed but tried, with a file of ours.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { MountSettings } from 'dockerode';
import { firstBytes } from '../../lib/collect.ts';
import { readIfThere } from '../../lib/file.ts';
import { Fault } from '../../model/fault.ts';
import { type Connection, statusOf } from './connection.ts';

/** One of our paths as the engine has it. Throws where it has none. */
export type View = (path: string) => string;

/** A place here, and the same place there. */
export interface Place {
  readonly here: string;
  readonly there: string;
}

export interface ViewInput {
  readonly connection: Connection;
  /** Any; nothing of it runs. */
  readonly image: string;
  /** Of ours, which the engine has to see. */
  readonly folder: string;
  readonly installation: string;
}

export async function findView(input: ViewInput): Promise<View> {
  if (await sees(input, (path) => path)) return (path) => path;
  for (const places of await placesOfOurContainer(input.connection)) {
    const view = viewThrough(places);
    if (await sees(input, view)) return view;
  }
  throw unseen(input.folder);
}

/** The innermost place decides. */
export function viewThrough(places: readonly Place[]): View {
  const innermost = [...places].sort((one, other) => other.here.length - one.here.length);
  return (path) => {
    const place = innermost.find(({ here }) => path === here || path.startsWith(here === '/' ? here : `${here}/`));
    if (!place) throw unseen(path);
    return join(place.there, path.slice(place.here.length));
  };
}

/** One small file and its header; an engine may answer with anything. */
const maxArchiveBytes = 64 * 1024;

/** Creates a container with the folder in it, which is never started, and reads from it what we just wrote. */
async function sees({ connection, image, folder, installation }: ViewInput, view: View): Promise<boolean> {
  const token = randomBytes(16).toString('hex');
  const file = join(folder, `view-${token}`);
  const name = `carrel-${installation}-view-${token}`;
  writeFileSync(file, token, { mode: 0o600 });
  try {
    const Source = view(folder);
    const Mounts = [{ Type: 'bind', Source, Target: '/view', ReadOnly: true }] as MountSettings[];
    const HostConfig = { Mounts, NetworkMode: 'none' };
    await connection.ask((docker) => docker.createContainer({ name, Image: image, Cmd: ['true'], HostConfig }));
    const path = `/view/${basename(file)}`;
    const archive = await connection.stream(`/containers/${name}/archive`, { path });
    return (await firstBytes(archive, maxArchiveBytes)).includes(token);
  } catch (error) {
    // It has no such path, or another file under that name.
    if (error instanceof Fault && (error.code === 'unsupported' || statusOf(error) !== null)) return false;
    throw connection.brokeOff(error);
  } finally {
    rmSync(file, { force: true });
    await connection.find((docker) => docker.getContainer(name).remove({ force: true }));
  }
}

/** What each container that may be ours has mounted; none where we are in no container of this engine. */
async function placesOfOurContainer(connection: Connection): Promise<Place[][]> {
  const found = await Promise.all(
    containersNamedHere().map((id) => connection.find((docker) => docker.getContainer(id).inspect())),
  );
  return found.flatMap((container) => {
    const mounts = (container?.Mounts ?? []) as { readonly Source?: string; readonly Destination: string }[];
    const places = mounts.flatMap(({ Source, Destination }) =>
      Source?.startsWith('/') ? [{ here: Destination, there: Source }] : [],
    );
    return places.length > 0 ? [places] : [];
  });
}

/** The engine puts files of its own into every container, and names it after itself unless told otherwise. */
function containersNamedHere(): string[] {
  const texts = ['/proc/self/mountinfo', '/proc/self/cgroup'].map((path) => readIfThere(path) ?? '');
  const ids = texts.flatMap((text) => text.match(/\b[0-9a-f]{64}\b/g) ?? []);
  return [...new Set([...ids, hostname()])];
}

function unseen(path: string): Fault {
  return new Fault('unsupported', `the Docker Engine does not see ${path}`, {
    hint: `${whereWeAre()} Or use the embedded engine: --engine local.`,
  });
}

function whereWeAre(): string {
  const hint = 'mount it into the container of this daemon from where the engine runs (docker run -v HOST:PATH)';
  return isContainer() ? `This daemon runs in a container: ${hint}.` : `If this daemon runs in a container, ${hint}.`;
}

function isContainer(): boolean {
  const marks = ['/.dockerenv', '/run/.containerenv'].some((path) => readIfThere(path) !== null);
  return marks || /docker|containerd|libpod/.test(readFileSync('/proc/self/mountinfo', 'utf8').split('\n')[0] ?? '');
}
