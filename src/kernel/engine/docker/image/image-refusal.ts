/** Why no sandbox can be made of an image: it is for another architecture, or has no shell. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { type Connection, statusOf } from '../connection/connection.ts';

interface CheckedImage {
  readonly id: string;
  readonly path: string | null;
  readonly platform: string;
}

/** Older architectures whose programs a newer one runs as well. */
const alsoRuns: Readonly<Record<string, string>> = { amd64: '386', arm64: 'arm' };
const defaultPath = '/usr/local/bin:/usr/bin:/bin';

export async function refusalOf(image: CheckedImage, connection: Connection): Promise<string | null> {
  const { Os, Arch } = await connection.ask((docker) => docker.version());
  return platformRefusal(image.platform, Os ?? 'linux', Arch) ?? (await shellRefusal(image, connection));
}

/** Null: the image can run. An image without an architecture is not refused. */
export function platformRefusal(platform: string, os: string, architecture: string): string | null {
  const runs = [architecture, alsoRuns[architecture]].map((one) => `${os}/${one}`);
  if (platform.endsWith('/') || runs.includes(platform)) return null;
  return `it is for ${platform}, and this engine runs ${os}/${architecture}`;
}

/** Searches `sh` in a container that is created but never started. */
async function shellRefusal({ id, path }: CheckedImage, connection: Connection): Promise<string | null> {
  const name = `carrel-look-${randomBytes(8).toString('hex')}`;
  const HostConfig = { NetworkMode: 'none' };
  await connection.ask((docker) => docker.createContainer({ name, Image: id, Cmd: ['sh'], HostConfig }));
  try {
    for (const place of shellPaths(path)) if (await isThere(connection, name, place)) return null;
    return `it has no sh in ${path ?? defaultPath}`;
  } finally {
    await connection.find((docker) => docker.getContainer(name).remove({ force: true, v: true }));
  }
}

export function shellPaths(path: string | null): string[] {
  const folders = `${path ?? ''}:${defaultPath}`.split(':').filter((folder) => folder.startsWith('/'));
  return [...new Set(folders)].map((folder) => join(folder, 'sh'));
}

/** The engine answers 500 if links form a circle. If the engine itself fails, removing the container fails, too. */
async function isThere(connection: Connection, container: string, path: string): Promise<boolean> {
  try {
    await connection.ask((docker) => docker.getContainer(container).infoArchive({ path }));
    return true;
  } catch (error) {
    if (statusOf(error) === 404 || statusOf(error) === 500) return false;
    throw error;
  }
}
