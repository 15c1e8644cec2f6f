/** The sockets where a Docker Engine, or Podman with the same API, listens on this machine. */
import { existsSync } from 'node:fs';
import { Fault } from '../../../../model/fault.ts';

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

/** A process that can connect to one of these is effectively root. */
export function engineSockets(env: Environment): string[] {
  return [...dockerSockets(env), '/run/containerd/containerd.sock'];
}

/** DOCKER_HOST, or the first socket that exists; else Docker's default, so that the error names it. */
export function findSocket(env: Environment, isThere: (path: string) => boolean = existsSync): string {
  if (env.DOCKER_HOST) return namedSocket(env.DOCKER_HOST);
  return dockerSockets(env).find(isThere) ?? dockerSocket;
}

/** Folders of this machine are mounted into sandboxes, so the engine must be on it. */
function namedSocket(host: string): string {
  if (host.startsWith('unix:///')) return host.slice('unix://'.length);
  throw new Fault('unsupported', `DOCKER_HOST is ${host}, but only a Docker Engine of this machine can be used`, {
    hint: 'Unset it, or set it to unix:///PATH.',
  });
}
