/**
 * What a container has at `/`: an image, or the host's programs as the embedded engine gives them. For the latter the
 * Docker Engine gets an image of folders to mount on and a small /etc, named after what is in it and made once.
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
import { run } from '../../lib/run.ts';
import { Fault } from '../../model/fault.ts';
import type { Mount } from '../../model/mount.ts';
import type { Root } from '../engine.ts';
import { fillSkeleton, hostProgramMounts } from '../local/root.ts';
import type { Connection } from './connection.ts';

export interface DockerRoot {
  readonly image: string;
  readonly mounts: readonly Mount[];
  /** Where the image asks for a volume. Unless told otherwise the engine makes one there that can be written without a limit. */
  readonly volumes: readonly string[];
}

/** `folder` is to work in. */
export async function rootOf(root: Root, connection: Connection, folder: string): Promise<DockerRoot> {
  if (root.kind === 'image') {
    return { image: root.reference, mounts: [], volumes: await volumesOf(root.reference, connection) };
  }
  if (root.kind === 'host') {
    return { image: await recentHostImage(connection, folder), mounts: hostProgramMounts(), volumes: [] };
  }
  throw new Fault('unsupported', 'a Docker Engine makes no sandboxes of a folder', {
    hint: 'Make an image of it with docker import, or use the embedded engine: --engine local.',
  });
}

/** Of an image that is not there, creating the container says so. */
async function volumesOf(reference: string, connection: Connection): Promise<string[]> {
  const found = await connection.find((docker) => docker.getImage(reference).inspect());
  return Object.keys((found?.Config?.Volumes as Record<string, unknown> | null | undefined) ?? {});
}

export const hostImageName = 'carrel-host';

const recentMs = 60_000;
const recent = new WeakMap<Connection, { readonly until: number; readonly image: Promise<string> }>();

/** Programs come and go on the host, but not at every start. */
function recentHostImage(connection: Connection, folder: string): Promise<string> {
  const known = recent.get(connection);
  if (known && Date.now() < known.until) return known.image;
  const image = hostImage(connection, folder);
  recent.set(connection, { until: Date.now() + recentMs, image });
  image.catch(() => recent.delete(connection));
  return image;
}

/** It is no longer there, whoever took it. */
export function forgetHostImage(connection: Connection): void {
  recent.delete(connection);
}

/** A place for one: runc gives a tmpfs the mode of what it is mounted on. */
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
 * The Docker Engine mounts its init at /sbin/docker-init, which would be covered if that were a link into the host's
 * programs. So it is a folder, of links to each of them.
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

/** Of names, kinds, modes and contents. */
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
