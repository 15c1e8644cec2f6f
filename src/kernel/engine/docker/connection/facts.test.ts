import { describe, expect, it } from 'vitest';
import { factsFrom } from './facts.ts';
import { findSocket } from './socket.ts';

const plain = {
  ServerVersion: '20.10.24',
  SecurityOptions: ['name=apparmor', 'name=seccomp,profile=default'],
  DockerRootDir: '/var/lib/docker',
  Runtimes: { runc: {}, 'io.containerd.runc.v2': {}, runsc: {} },
  DefaultRuntime: 'runc',
  ...{ MemoryLimit: true, SwapLimit: true, CpuCfsQuota: true, PidsLimit: true },
  Plugins: { Log: ['json-file', 'local'] },
};

describe('the facts of a Docker Engine', () => {
  it('are read from its answers', () => {
    expect(factsFrom(plain)).toMatchObject({
      seccomp: true,
      shift: null,
      runtimes: ['runc', 'io.containerd.runc.v2', 'runsc'],
      enforced: ['cpus', 'memoryBytes', 'swapBytes', 'pids'],
      logDriver: 'local',
    });
  });

  it('report seccomp only if the engine applies a profile', () => {
    const seccomp = (...SecurityOptions: string[]) => factsFrom({ ...plain, SecurityOptions }).seccomp;
    expect(seccomp('name=seccomp,profile=builtin')).toBe(true);
    expect(seccomp('seccomp')).toBe(true);
    expect(seccomp('name=seccomp,profile=unconfined')).toBe(false);
    expect(seccomp('name=apparmor')).toBe(false);
  });

  it('contain the offset of shifted ids', () => {
    const SecurityOptions = [...plain.SecurityOptions, 'name=userns'];
    const facts = factsFrom({ ...plain, SecurityOptions, DockerRootDir: '/var/lib/docker/165536.165537' });
    expect(facts.shift).toEqual({ uid: 165536, gid: 165537 });
  });

  it('recognize Podman, which accepts no runtime and whose containers outlive it', () => {
    const log = { Plugins: { Log: ['k8s-file', 'journald'] } };
    const facts = factsFrom({ ...plain, ...log, DefaultRuntime: 'crun' }, { Components: [{ Name: 'Podman Engine' }] });
    expect(facts).toMatchObject({ product: 'Podman', runtimes: ['crun'], liveRestore: true, logDriver: 'k8s-file' });
  });

  it('have defaults for fields that the engine leaves out', () => {
    expect(factsFrom({})).toMatchObject({ seccomp: false, runtimes: ['runc'], enforced: [], logDriver: 'json-file' });
  });
});

describe('the socket', () => {
  it('is that of the environment, the first that exists, or the default', () => {
    const there =
      (...paths: string[]) =>
      (path: string) =>
        paths.includes(path);
    expect(findSocket({ DOCKER_HOST: 'unix:///x/y.sock' }, there())).toBe('/x/y.sock');
    expect(findSocket({}, there('/run/podman/podman.sock'))).toBe('/run/podman/podman.sock');
    expect(findSocket({ XDG_RUNTIME_DIR: '/run/user/7' }, there('/run/user/7/podman/podman.sock'))).toBe(
      '/run/user/7/podman/podman.sock',
    );
    expect(findSocket({}, there())).toBe('/var/run/docker.sock');
  });

  it('on another machine is refused', () => {
    expect(() => findSocket({ DOCKER_HOST: 'tcp://elsewhere:2375' })).toThrow(/only a Docker Engine of this machine/);
  });
});
