/** Where a Docker Engine, or Podman in its clothes, listens on this machine. */
import { existsSync } from 'node:fs';
import { Fault } from '../../model/fault.ts';

const dockerSocket = '/var/run/docker.sock';

type Environment = Readonly<Record<string, string | undefined>>;

function dockerSockets({ XDG_RUNTIME_DIR: own }: Environment): string[] {
  return [
    dockerSocket,
    ...(own ? [`${own}/docker.sock`] : []),
    '/run/podman/podman.sock',
    ...(own ? [`${own}/podman/podman.sock`] : []),
  ];
}

/** Whoever can connect to one of these is root. */
export function engineSockets(env: Environment): string[] {
  return [...dockerSockets(env), '/run/containerd/containerd.sock'];
}

/** The first that is there; Docker's own place when none is, so that the error names it. */
export function findSocket(env: Environment, isThere: (path: string) => boolean = existsSync): string {
  if (env.DOCKER_HOST) return namedSocket(env.DOCKER_HOST);
  return dockerSockets(env).find(isThere) ?? dockerSocket;
}

/** Folders of this machine are mounted into sandboxes, so the engine has to be on it. */
function namedSocket(host: string): string {
  if (host.startsWith('unix:///')) return host.slice('unix://'.length);
  throw new Fault('unsupported', `DOCKER_HOST is ${host}, but only a Docker Engine of this machine can be used`, {
    hint: 'Unset it, or set it to unix:///PATH.',
  });
}
