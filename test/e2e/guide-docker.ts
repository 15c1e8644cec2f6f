/** A Docker Engine on the machine of a page, and a project for an image. */
import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dockerd } from '../harness/dockerd.ts';
import type { OwnMachine } from '../harness/own-machine.ts';
import type { Guide } from './guide.ts';

/** A dockerd on the machine of the guide, so that it sees the folders there. */
class OwnDockerd extends Dockerd {
  #machine!: OwnMachine;

  static async on(machine: OwnMachine): Promise<OwnDockerd> {
    const dockerd = new OwnDockerd(mkdtempSync(join(tmpdir(), 'carrel-dockerd-')));
    chmodSync(dockerd.folder, 0o711);
    dockerd.#machine = machine;
    await dockerd.prepare();
    return dockerd;
  }

  protected override command(): [string, ...string[]] {
    return this.#machine.account.wrap(super.command()) as [string, ...string[]];
  }
}

export async function withDocker(guide: Guide): Promise<Dockerd> {
  const dockerd = await OwnDockerd.on(guide.machine);
  guide.onEnd(() => dockerd.dispose());
  guide.configure({ docker: { socket: dockerd.socketPath, parent: 'parent' }, images: ['debian:12'] });
  return dockerd;
}

/** Writes the files from which an image of a project is built. */
export function putManifest({ project }: Guide, folder: string): void {
  const manifest = { name: 'shop', version: '1.0.0' };
  const lock = { ...manifest, lockfileVersion: 3, packages: { '': manifest } };
  project.put(`${folder}/package.json`, JSON.stringify(manifest));
  project.put(`${folder}/package-lock.json`, JSON.stringify(lock));
}
