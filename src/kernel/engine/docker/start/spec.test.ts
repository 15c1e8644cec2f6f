import { describe, expect, it } from 'vitest';
import { sampleLaunch } from '../../../../../test/fixtures/launch.ts';
import type { Launch } from '../../engine.ts';
import { containerSpec, type DockerSpecInput } from './spec.ts';

const identity = { inside: { uid: 4321, gid: 4321 }, outside: { uid: 4321, gid: 4321 } };

function specOf(launch: Partial<Launch> = {}, input: Partial<DockerSpecInput> = {}) {
  return containerSpec({
    name: 'carrel-x',
    launch: sampleLaunch(launch),
    image: 'sha256:abc',
    runtime: 'runc',
    identity,
    facts: { enforced: ['cpus', 'memoryBytes', 'swapBytes', 'pids'], logDriver: 'local' },
    log: { maxBytes: 1, files: 1 },
    labels: {},
    filter: '{}',
    mounts: [],
    tmpfs: {},
    ...input,
  } as DockerSpecInput);
}

/** Options that would weaken the isolation; none of them may be sent to the Docker Engine. */
const doors = [
  ...['Privileged', 'CapAdd', 'Devices', 'DeviceRequests', 'DeviceCgroupRules', 'PidMode', 'UTSMode', 'UsernsMode'],
  ...['Binds', 'VolumesFrom', 'Links', 'PortBindings', 'PublishAllPorts', 'GroupAdd', 'Sysctls', 'CgroupParent'],
];

describe('a container', () => {
  it.each(doors)('is created without %s', (door) => {
    expect(specOf().HostConfig).not.toHaveProperty(door);
  });

  it('runs as agent, without privileges and without network', () => {
    const { HostConfig, User, NetworkDisabled } = specOf();
    expect([User, NetworkDisabled]).toEqual(['4321:4321', true]);
    expect(HostConfig).toMatchObject({
      CapDrop: ['ALL'],
      NetworkMode: 'none',
      IpcMode: 'private',
      CgroupnsMode: 'private',
      ReadonlyRootfs: true,
      Init: true,
    });
    expect(HostConfig!.SecurityOpt).toEqual(['no-new-privileges:true', 'seccomp={}']);
  });

  it.each(['runc', 'crun', 'runsc'])('under %s uses the seccomp filter of Carrel', (runtime) => {
    expect(specOf({}, { runtime }).HostConfig!.SecurityOpt).toHaveLength(2);
  });

  it('under sysbox-runc uses the filter that sysbox-runc derives from the default one', () => {
    expect(specOf({}, { runtime: 'sysbox-runc' }).HostConfig!.SecurityOpt).toEqual(['no-new-privileges:true']);
  });

  it('ignores the entry point, health check and ports of the image', () => {
    const { Entrypoint, Cmd, Healthcheck } = specOf({ command: ['echo', 'x'] });
    expect([Entrypoint, Cmd, Healthcheck]).toEqual([['echo', 'x'], [], { Test: ['NONE'] }]);
  });
});
