import { describe, expect, it } from 'vitest';
import { sampleLaunch } from '../../../../../test/fixtures/launch.ts';
import { podmanSpec } from './podman.ts';
import { containerSpec, type DockerSpecInput } from './spec.ts';

const options = containerSpec({
  name: 'carrel-x',
  launch: sampleLaunch({ command: ['/sbin/init', 'x'], env: { A: 'b=c', EMPTY: '' } }),
  image: 'sha256:abc',
  runtime: 'crun',
  identity: { inside: { uid: 4321, gid: 4321 }, outside: { uid: 4321, gid: 4321 } },
  facts: { enforced: ['cpus', 'memoryBytes', 'swapBytes', 'pids'], logDriver: 'k8s-file' },
  log: { maxBytes: 1, files: 1 },
  labels: { 'carrel.id': 'x' },
  filter: '{}',
  mounts: [{ Type: 'bind', Source: '/a', Target: '/b', ReadOnly: true }],
  tmpfs: { '/tmp': 'rw,mode=1777,size=9' },
} as unknown as DockerSpecInput);
const input = { filterPath: '/filter.json', logPath: '/log', log: { maxBytes: 7, files: 2 } };
const spec = podmanSpec(options, input) as Record<string, unknown>;

describe('a container of Podman', () => {
  it('is confined like one of a Docker Engine', () => {
    const own = { nsmode: 'private' };
    expect(spec).toMatchObject({
      ...{ user: '4321:4321', cap_drop: ['ALL'], no_new_privileges: true, seccomp_profile_path: '/filter.json' },
      ...{ read_only_filesystem: true, systemd: 'false', init: true, oci_runtime: 'crun', restart_policy: 'no' },
      ...{ pidns: own, ipcns: own, utsns: own, cgroupns: own, netns: { nsmode: 'none' }, userns: { nsmode: 'host' } },
    });
    const { MaskedPaths } = options.HostConfig as { MaskedPaths?: string[] };
    expect(spec.mask).toEqual(MaskedPaths);
    expect(MaskedPaths).toContain('/sys/fs');
  });

  it('has its environment, mounts, limits and log', () => {
    expect(spec.env).toMatchObject({ A: 'b=c', EMPTY: '' });
    expect(spec.mounts).toEqual([
      { type: 'bind', source: '/a', destination: '/b', options: ['rbind', 'rprivate', 'nosuid', 'nodev', 'ro'] },
      expect.objectContaining({ type: 'tmpfs', destination: '/tmp' }),
    ]);
    const { memoryBytes, swapBytes, pids } = sampleLaunch({}).limits;
    expect(spec.resource_limits).toMatchObject({
      memory: { limit: memoryBytes, swap: swapBytes },
      pids: { limit: pids },
    });
    expect(spec.log_configuration).toEqual({ driver: 'k8s-file', path: '/log', size: 7 });
    expect(spec.r_limits).toContainEqual({ type: 'core', soft: 0, hard: 0 });
  });

  it('never gets a volume, because Podman would change its owner and mode', () => {
    const HostConfig = { ...options.HostConfig, Mounts: [{ Type: 'volume', Source: 'x', Target: '/x' }] };
    expect(() => podmanSpec({ ...options, HostConfig } as typeof options, input)).toThrow(/as a volume/);
  });
});
