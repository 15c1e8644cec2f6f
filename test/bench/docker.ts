/** A dockerd of the bench's own, and the time to run a program on it. */
import { Dockerd, image } from '../harness/dockerd.ts';
import type { Cleanup } from './cleanup.ts';
import { isInstalled, timeProgram } from './program.ts';
import type { Measure } from './sample.ts';

export interface Docker {
  readonly dockerd: Dockerd;
  readonly run: Measure;
  readonly exec: Measure;
}

const liveName = 'bench-live';
const withoutNetwork = ['--network', 'none'];

/** Returns the reason if Docker is missing. A Docker that should work and does not is an error. */
export async function openDocker(cleanup: Cleanup): Promise<Docker | string> {
  if (!['docker', 'dockerd', 'busybox'].every(isInstalled)) return 'not installed';
  if (process.getuid?.() !== 0) return 'only root can start dockerd';
  const dockerd = await Dockerd.open();
  cleanup.add('dockerd', () => dockerd.dispose());
  await dockerd.docker('run', '--detach', '--name', liveName, ...withoutNetwork, image, 'sleep', '100000');
  cleanup.add('the container of docker', async () => void (await dockerd.docker('rm', '--force', liveName)));
  const docker = ['docker', '--host', `unix://${dockerd.socketPath}`];
  return {
    dockerd,
    run: () => timeProgram([...docker, 'run', '--rm', ...withoutNetwork, image, 'echo', 'ready']),
    exec: () => timeProgram([...docker, 'exec', liveName, 'echo', 'ready']),
  };
}
