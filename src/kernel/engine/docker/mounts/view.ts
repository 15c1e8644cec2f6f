/**
 * How the Docker Engine sees the daemon's folders. An engine on the same machine sees the same paths. When the daemon
 * runs in a container of that engine, the engine knows only what is mounted into that container, under other paths. The
 * daemon finds out which of the two is the case by a trial with a file of its own.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import type { MountSettings } from 'dockerode';
import { readIfThere } from '../../../../lib/file/file.ts';
import { firstBytes } from '../../../../lib/process/collect.ts';
import { Fault } from '../../../../model/fault.ts';
import { type Connection, statusOf } from '../connection/connection.ts';

/** Maps a path of the daemon to the path by which the engine knows it. Throws if the engine does not see it. */
export type View = (path: string) => string;

/** A folder of the daemon, and the same folder of the engine. */
export interface SharedFolder {
  readonly here: string;
  readonly there: string;
}

export interface ViewInput {
  readonly connection: Connection;
  /** Any image; nothing of it runs. */
  readonly image: string;
  /** A folder of the daemon that the engine must see. */
  readonly folder: string;
  readonly installation: string;
}

export async function findView(input: ViewInput): Promise<View> {
  if (await sees(input, (path) => path)) return (path) => path;
  for (const folders of await foldersOfOwnContainer(input.connection)) {
    const view = viewThrough(folders);
    if (await sees(input, view)) return view;
  }
  throw unseen(input.folder);
}

/** The innermost shared folder decides. */
export function viewThrough(folders: readonly SharedFolder[]): View {
  const innermost = [...folders].sort((one, other) => other.here.length - one.here.length);
  return (path) => {
    const folder = innermost.find(({ here }) => path === here || path.startsWith(here === '/' ? here : `${here}/`));
    if (!folder) throw unseen(path);
    return join(folder.there, path.slice(folder.here.length));
  };
}

/** Enough for one small file and its header; a wrong engine may answer with anything. */
const maxArchiveBytes = 64 * 1024;

/** Creates a container with the folder mounted, never starts it, and reads the file from it that was just written. */
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
    // The engine has no such path, or another file at it.
    if (error instanceof Fault && (error.code === 'unsupported' || statusOf(error) !== null)) return false;
    throw connection.brokeOff(error);
  } finally {
    rmSync(file, { force: true });
    await connection.find((docker) => docker.getContainer(name).remove({ force: true }));
  }
}

/** The mounts of each container that may be the daemon's own; none: the daemon is not in a container of this engine. */
async function foldersOfOwnContainer(connection: Connection): Promise<SharedFolder[][]> {
  const found = await Promise.all(
    containersNamedHere().map((id) => connection.find((docker) => docker.getContainer(id).inspect())),
  );
  return found.flatMap((container) => {
    const mounts = (container?.Mounts ?? []) as { readonly Source?: string; readonly Destination: string }[];
    const folders = mounts.flatMap(({ Source, Destination }) =>
      Source?.startsWith('/') ? [{ here: Destination, there: Source }] : [],
    );
    return folders.length > 0 ? [folders] : [];
  });
}

/** The engine mounts its own files into every container, and by default uses the container's id as host name. */
function containersNamedHere(): string[] {
  const texts = ['/proc/self/mountinfo', '/proc/self/cgroup'].map((path) => readIfThere(path) ?? '');
  const ids = texts.flatMap((text) => text.match(/\b[0-9a-f]{64}\b/g) ?? []);
  return [...new Set([...ids, hostname()])];
}

function unseen(path: string): Fault {
  return new Fault('unsupported', `the Docker Engine does not see ${path}`, {
    hint: `${mountHint()} Or use the embedded engine: --engine local.`,
  });
}

function mountHint(): string {
  const hint = 'mount it into the container of this daemon from where the engine runs (docker run -v HOST:PATH)';
  return isContainer() ? `This daemon runs in a container: ${hint}.` : `If this daemon runs in a container, ${hint}.`;
}

function isContainer(): boolean {
  const marks = ['/.dockerenv', '/run/.containerenv'].some((path) => readIfThere(path) !== null);
  return marks || /docker|containerd|libpod/.test(readFileSync('/proc/self/mountinfo', 'utf8').split('\n')[0] ?? '');
}
