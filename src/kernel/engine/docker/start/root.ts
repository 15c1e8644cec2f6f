/**
 * The root filesystem of a container: an image, or the host's programs as in the embedded engine. For the latter the
 * Docker Engine gets an image with mount points and a small /etc, named after its content and made once.
 */
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { run } from '../../../../lib/process/run.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Mount } from '../../../../model/mount.ts';
import type { Root } from '../../engine.ts';
import { fillSkeleton, hostProgramMounts } from '../../local/stage/root.ts';
import type { Connection } from '../connection/connection.ts';

export interface DockerRoot {
  readonly image: string;
  readonly mounts: readonly Mount[];
  /**
   * The paths that the image declares as volumes. By default the engine makes a writable volume without a limit at
   * each.
   */
  readonly volumes: readonly string[];
}

/** `folder`: temporary files are made in it. */
export async function rootOf(root: Root, connection: Connection, folder: string): Promise<DockerRoot> {
  if (root.kind === 'image') {
    return { image: root.reference, mounts: [], volumes: await volumesOf(root.reference, connection) };
  }
  if (root.kind === 'host') {
    return { image: await recentHostImage(connection, folder), mounts: hostProgramMounts(), volumes: [] };
  }
  throw new Fault('unsupported', 'a Docker Engine cannot use a folder as root filesystem', {
    hint: 'Make an image of it with docker import, or use the embedded engine: --engine local.',
  });
}

/** If the image does not exist, creating the container reports that. */
async function volumesOf(reference: string, connection: Connection): Promise<string[]> {
  const found = await connection.find((docker) => docker.getImage(reference).inspect());
  return Object.keys((found?.Config?.Volumes as Record<string, unknown> | null | undefined) ?? {});
}

export const hostImageName = 'carrel-host';

const recentMs = 60_000;
const recent = new WeakMap<Connection, { readonly until: number; readonly image: Promise<string> }>();

/** Cached: the host's programs change, but not at every start. */
function recentHostImage(connection: Connection, folder: string): Promise<string> {
  const known = recent.get(connection);
  if (known && Date.now() < known.until) return known.image;
  const image = hostImage(connection, folder);
  recent.set(connection, { until: Date.now() + recentMs, image });
  image.catch(() => recent.delete(connection));
  return image;
}

/** Drops the cached image. The caller calls it when the image may be gone. */
export function forgetHostImage(connection: Connection): void {
  recent.delete(connection);
}

/** A mount point: runc gives a tmpfs the mode of the folder it is mounted on. */
const temporary: Mount = { kind: 'tmpfs', target: '/tmp', sizeBytes: 0, mode: 0o1777 };

async function hostImage(connection: Connection, folder: string): Promise<string> {
  const work = mkdtempSync(join(folder, 'image-'));
  try {
    const root = join(work, 'root');
    mkdirSync(root, { mode: 0o755 });
    const mounts = [...hostProgramMounts(), temporary];
    fillSkeleton(root, { hostname: 'sandbox', mounts, ownerId: 0, hostPrograms: true });
    makeRoomForInit(root);
    const tag = digestOf(root);
    const image = `${hostImageName}:${tag}`;
    const known = await connection.find((docker) => docker.getImage(image).inspect());
    if (known === null) await importFolder(connection, root, join(work, 'image.tar'), tag);
    return image;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/**
 * The Docker Engine mounts its init at /sbin/docker-init. If /sbin were a link into the host's programs, the mount
 * would be hidden, so it is a folder of links to each program.
 */
function makeRoomForInit(root: string): void {
  const sbin = join(root, 'sbin');
  if (!lstatSync(sbin, { throwIfNoEntry: false })?.isSymbolicLink()) return;
  const target = readlinkSync(sbin);
  rmSync(sbin);
  mkdirSync(sbin, { mode: 0o755 });
  const names = readdirSync(join('/', target)).filter((name) => name !== 'docker-init');
  for (const name of names) symlinkSync(join('..', target, name), join(sbin, name));
}

/** A digest of names, types, modes and contents. */
function digestOf(root: string): string {
  const hash = createHash('sha256');
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
  for (const name of names) {
    const path = join(root, name);
    const stat = lstatSync(path);
    hash.update(`${name}\0${stat.mode}\0`);
    if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
    else if (stat.isFile()) hash.update(readFileSync(path));
  }
  return hash.digest('hex').slice(0, 16);
}

async function importFolder(connection: Connection, root: string, archive: string, tag: string): Promise<void> {
  const { exitCode, stderr } = await run(['tar', '--create', '--file', archive, '--directory', root, '.']);
  if (exitCode !== 0) throw new Fault('internal', `cannot make an image of the host's programs: ${stderr.trim()}`);
  const answer = await connection.ask((docker) => docker.importImage(archive, { repo: `${hostImageName}:${tag}` }));
  answer.resume();
  await finished(answer).catch((error: unknown) => {
    throw connection.brokeOff(error);
  });
}
