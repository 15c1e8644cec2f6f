// @needs root
/** The restrictions of the docker engine's sandboxes, as seen from inside and in the requests to the Docker Engine. */
import { chownSync, mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { containerName } from '../../src/kernel/engine/docker/naming.ts';
import { type SeccompProfile, seccompProfile } from '../../src/kernel/engine/local/runtime/seccomp.ts';
import { readMark } from '../../src/lib/sys/sys.ts';
import type { Mount } from '../../src/model/mount.ts';
import { codeOf } from '../conformance/engine/trial.ts';
import { until } from '../conformance/engine/wait.ts';
import { type DockerSetup, dockerSetup, outputOf } from '../harness/docker-engine.ts';
import { type Dockerd, image } from '../harness/dockerd.ts';
import { dockerEngines } from '../harness/podman.ts';

describe.each(dockerEngines)('on %s', (engine, open) => {
  const isPodman = engine === 'podman';

  let dockerd: Dockerd;
  let setup: DockerSetup;

  beforeAll(async () => {
    dockerd = await open();
  });
  afterAll(() => dockerd.dispose());

  beforeEach(async () => {
    setup = await dockerSetup(dockerd);
  });
  afterEach(async () => {
    for (const id of await setup.engine.list()) await setup.engine.remove(id, null);
    expect(await dockerd.docker('ps', '--all', '--quiet')).toBe('');
    expect(await dockerd.docker('volume', 'ls', '--quiet')).toBe('');
    await setup.engine.dispose();
    await setup.cleanup();
  });

  const container = (id: string) => containerName('box', id);
  const script = (text: string, mounts: readonly Mount[] = []) =>
    outputOf(setup.engine, setup.launch({ command: ['/bin/sh', '-c', text], mounts }));

  const byDocker = {
    CapDrop: ['ALL'],
    PidMode: '',
    IpcMode: 'private',
    UTSMode: '',
    CgroupnsMode: 'private',
    SecurityOpt: ['no-new-privileges:true', expect.stringMatching(/^seccomp={"defaultAction":"SCMP_ACT_ERRNO",/)],
    Ulimits: [{ Name: 'core', Hard: 0, Soft: 0 }],
    MaskedPaths: expect.arrayContaining(['/proc/kcore']),
    ReadonlyPaths: expect.arrayContaining(['/proc/sys']),
  };
  const byPodman = {
    PidMode: 'private',
    UTSMode: 'private',
    SecurityOpt: ['no-new-privileges'],
    Ulimits: expect.arrayContaining([{ Name: 'RLIMIT_CORE', Hard: 0, Soft: 0 }]),
  };

  describe('a process inside', () => {
    it('has namespaces of its own', async () => {
      const kinds = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'uts'];
      const text = await script(`for kind in ${kinds.join(' ')}; do readlink /proc/self/ns/$kind; done`);
      expect(text.trim().split('\n')).toHaveLength(kinds.length);
      for (const kind of kinds) expect(text).not.toContain(readlinkSync(`/proc/self/ns/${kind}`));
    });

    it('runs as agent, without privileges or a way to get them, and with a system call filter', async () => {
      const text = await script('id -u; id -g; whoami; grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status');
      const [uid, gid, name, ...status] = text.trim().split('\n');
      expect([uid, gid, name]).toEqual([`${agentOf(0)}`, `${agentOf(0)}`, 'agent']);
      for (const line of status.filter((one) => one.startsWith('Cap'))) expect(line).toMatch(/:\s+0+$/);
      expect(status).toContain('NoNewPrivs:\t1');
      expect(status).toContain('Seccomp:\t2');
    });

    it('can write only to its mounts, and has no network', async () => {
      const text = await script(
        'for path in / /bin /etc /var /run; do touch $path/x 2>/dev/null && echo "wrote to $path"; done; ' +
          'touch /tmp/x && echo ok; grep : /proc/net/dev; ls /sys/* /var/run/docker.sock /run/docker.sock 2>/dev/null',
        [{ kind: 'tmpfs', target: '/tmp', sizeBytes: 1024 ** 2, mode: 0o1777 }],
      );
      expect(text).toMatch(/^ok\n +lo:[ 0]+\n/);
      expect(text).not.toMatch(/docker.sock|:.*eth/);
    });

    it('is held to its limits', async () => {
      const { id } = setup.launch({});
      const known = 'until [ -e /shared/known ]; do sleep 0.05; done';
      const launch = setup.launch({
        id,
        command: ['/bin/sh', '-c', `head -c 200000000 /dev/zero | tail | cat; ${known}; exit 9`],
        limits: { cpus: 1.5, memoryBytes: 32 * 1024 ** 2, swapBytes: 32 * 1024 ** 2, pids: 50, diskBytes: 1024 ** 3 },
        demanded: ['cpus', 'memoryBytes', 'swapBytes', 'pids'],
      });
      const { advisory } = await setup.engine.start(launch);
      expect(advisory).toEqual(['diskBytes']);
      // If the Docker Engine gets the event of the exit first, it never reports that memory ran out.
      const told = ['events', '--since', '1h', '--until', '0s', '--filter', `container=${container(id)}`];
      if (!isPodman)
        await until('the news', async () => (await dockerd.docker(...told, '--filter', 'event=oom')) || null);
      await setup.shared.touch('known');
      await dockerd.docker('wait', container(id));
      expect(await setup.engine.inspect(id, null)).toMatchObject({ kind: 'exited', exit: { outOfMemory: !isPodman } });
      const format =
        '{{.HostConfig.CpuQuota}} {{.HostConfig.Memory}} {{.HostConfig.MemorySwap}} {{.HostConfig.PidsLimit}}';
      expect(await dockerd.docker('inspect', '--format', format, container(id))).toBe('150000 33554432 33554432 50');
    });

    it('has no privilege, capability, device or network in its container configuration', async () => {
      const { id } = setup.launch({});
      await setup.engine.start(setup.launch({ id }));
      const [{ HostConfig: told }] = JSON.parse(await dockerd.docker('inspect', container(id)));
      const common = { Privileged: false, NetworkMode: 'none', UsernsMode: '', ReadonlyRootfs: true, Init: true };
      expect(told).toMatchObject({ ...common, RestartPolicy: { Name: 'no' }, ...(isPodman ? byPodman : byDocker) });
      expect([told.CapAdd ?? [], told.Devices ?? []]).toEqual([[], []]);
    });
  });

  if (!isPodman)
    describe('the filter of system calls', () => {
      /** System calls that later versions of Docker allow, too. */
      const later = `
      cachestat fchmodat2 futex_requeue futex_wait futex_wake getxattrat listxattrat removexattrat setxattrat
      map_shadow_stack mseal pkey_alloc pkey_free pkey_mprotect process_vm_readv process_vm_writev
    `;

      it('allows only calls that the default filter of Docker allows in a container without capabilities', async () => {
        const id = await dockerd.docker('run', '--detach', '--network=none', '--cap-drop=ALL', image, 'sleep', '600');
        const bundle = join(dockerd.folder, 'exec/containerd/daemon/io.containerd.runtime.v2.task/moby', id);
        const { seccomp } = JSON.parse(readFileSync(join(bundle, 'config.json'), 'utf8')).linux as { seccomp: Filter };
        await dockerd.docker('rm', '--force', id);
        const theirs = new Set([...allowedBy(seccomp), ...later.trim().split(/\s+/)]);
        const ours = allowedBy(seccompProfile(process.arch));
        expect(ours.length).toBeGreaterThan(200);
        expect(ours.filter((name) => !theirs.has(name))).toEqual([]);
        const archs = (filter: Filter) => filter.architectures.toSorted();
        expect(archs(seccomp)).toEqual(expect.arrayContaining(archs(seccompProfile(process.arch))));
      });

      type Filter = Pick<SeccompProfile, 'architectures' | 'syscalls'>;

      function allowedBy({ syscalls }: Filter): string[] {
        return syscalls.filter(({ action }) => action === 'SCMP_ACT_ALLOW').flatMap(({ names }) => names);
      }
    });

  describe('a working copy', () => {
    const ordinary = 4321;

    function project(owner: number): string {
      const path = join(setup.folder, 'a project, with: marks\\');
      mkdirSync(path);
      for (const [name, text] of Object.entries({ kept: 'kept', changed: 'before', gone: 'gone' })) {
        writeFileSync(join(path, name), text, { mode: 0o600 });
        chownSync(join(path, name), owner, owner);
      }
      mkdirSync(join(path, 'old'));
      for (const folder of [path, join(path, 'old')]) chownSync(folder, owner, owner);
      return path;
    }

    function overlay(lower: string): Extract<Mount, { kind: 'overlay' }> {
      const folder = join(setup.folder, 'layers');
      for (const name of ['upper', 'work']) mkdirSync(join(folder, name), { recursive: true });
      return { kind: 'overlay', lower, folder, target: '/workspace', mapOwner: true };
    }

    it('is an overlay whose changes land in its upper layer, as those of agent', async () => {
      const lower = project(ordinary);
      const mount = overlay(lower);
      const text = await script(
        'cd /workspace; id -u; whoami; cat kept; echo after > changed; rm gone; echo new > new; rmdir old; mkdir old; ls',
        [mount],
      );
      expect(text).toBe(`${agentOf(0)}\nagent\nkeptchanged\nkept\nnew\nold\n`);
      expect(readFileSync(join(lower, 'changed'), 'utf8')).toBe('before');
      const upper = (name: string) => join(mount.folder, 'upper', name);
      expect(readFileSync(upper('changed'), 'utf8')).toBe('after\n');
      expect(statSync(upper('new')).uid).toBe(agentOf(0));
      expect(statSync(upper('gone')).isCharacterDevice()).toBe(true);
      expect(readMark(Buffer.from(upper('old')), 'trusted.overlay.opaque')?.toString()).toBe('y');
      expect(readFileSync(upper('new'), 'utf8')).toBe('new\n');
    });

    it('keeps its changes for the next sandbox that mounts it', async () => {
      const mount = overlay(project(ordinary));
      await script('echo after > /workspace/changed', [mount]);
      expect(await script('cat /workspace/changed', [mount])).toBe('after\n');
    });

    it('can be made on an empty folder of another owner', async () => {
      const lower = join(setup.folder, 'home');
      mkdirSync(lower, { mode: 0o700 });
      expect(await script('cd /workspace && echo mine > file && cat file', [overlay(lower)])).toBe('mine\n');
    });

    it.each([0, ordinary])('and a bound folder of uid %i belong to agent inside only', async (owner) => {
      const lower = project(owner);
      const bound = { kind: 'bind', source: lower, target: '/workspace', readonly: false, mapOwner: true } as const;
      const read =
        'exec 2>&1; cd /workspace; stat -c %U . kept; cat kept; echo; touch made; chmod u+s made && echo set';
      expect(await script(read, [overlay(lower)])).toMatch(/^agent\nagent\nkept\nchmod: .*not permitted\n$/);
      expect(await script(read, [bound])).toMatch(/^agent\nagent\nkept\nchmod: .*not permitted\n$/);
      expect(statSync(join(lower, 'made'))).toMatchObject({ uid: owner, gid: owner });
    });

    it('may be used beside a bound folder of another owner', async () => {
      const [one, other] = [project(ordinary), join(setup.folder, 'other')];
      mkdirSync(other, { mode: 0o700 });
      chownSync(other, ordinary + 1, ordinary + 1);
      const bound = { kind: 'bind', source: other, target: '/other', readonly: false, mapOwner: true } as const;
      expect(await script('cat /workspace/kept; echo x > /other/x', [overlay(one), bound])).toBe('kept');
      expect(statSync(join(other, 'x')).uid).toBe(ordinary + 1);
    });

    it('leaves no mount in the namespace of the Docker Engine, and its project is not removed with it', async () => {
      const lower = project(ordinary);
      const { id } = setup.launch({});
      await setup.engine.start(setup.launch({ id, mounts: [overlay(lower)] }));
      expect(readdirSync(join(setup.folder, 'engine', 'stage'))).toEqual([]);
      await setup.engine.remove(id, null);
      expect(readFileSync(join(lower, 'kept'), 'utf8')).toBe('kept');
      const mounts = readFileSync(`/proc/${dockerd.pid}/mountinfo`, 'utf8');
      expect(mounts).not.toContain(setup.folder);
    });
  });

  describe('a volume of a user', () => {
    const name = 'carrel-session-0123abcd';

    function volume(owner: number): Extract<Mount, { kind: 'bind' }> {
      const source = join(setup.folder, name);
      mkdirSync(source, { mode: 0o700 });
      chownSync(source, owner, owner);
      return { kind: 'bind', source, target: '/data', readonly: false, mapOwner: true, volume: name };
    }

    if (isPodman)
      it('is mounted without a name, and neither its owner nor its mode is changed', async () => {
        const mount = volume(agentOf(0));
        expect(await script('echo kept > /data/note', [mount])).toBe('');
        expect(await script('cat /data/note; touch /data/x', [{ ...mount, readonly: true }])).toMatch(/Read-only/);
        expect(readFileSync(join(mount.source, 'note'), 'utf8')).toBe('kept\n');
        expect(statSync(mount.source)).toMatchObject({ uid: agentOf(0), mode: 0o40700 });
      });

    if (isPodman) return;

    it('has its name in the Docker Engine as long as a sandbox has it, and keeps its content in the folder of Carrel', async () => {
      const mount = volume(agentOf(0));
      const [one, other] = [
        setup.launch({ mounts: [mount] }),
        setup.launch({ mounts: [{ ...mount, readonly: true }] }),
      ];
      await setup.engine.start({ ...one, command: ['/bin/sh', '-c', 'echo kept > /data/note; sleep 600'] });
      await setup.engine.start(other);
      const [known] = JSON.parse(await dockerd.docker('volume', 'inspect', name));
      expect(known).toMatchObject({ Driver: 'local', Labels: { 'carrel.volume': name } });
      const format = '{{range .Mounts}}{{.Type}} {{.Name}} {{.Destination}} {{.RW}};{{end}}';
      expect(await dockerd.docker('inspect', '--format', format, container(other.id))).toContain(
        `volume ${name} /data false;`,
      );
      await setup.engine.remove(one.id, null);
      expect(await dockerd.docker('volume', 'ls', '--quiet')).toBe(name);
      expect(await script('cat /data/note', [mount])).toBe('kept\n');
      await setup.engine.remove(other.id, null);
      expect(await dockerd.docker('volume', 'ls', '--quiet')).toBe('');
      expect(readFileSync(join(setup.folder, name, 'note'), 'utf8')).toBe('kept\n');
    });

    it('is mounted without its name if that is taken, or if its content does not belong to agent', async () => {
      await dockerd.docker('volume', 'create', name);
      expect(await script('echo ours > /data/x', [volume(agentOf(0))])).toBe('');
      expect(readFileSync(join(setup.folder, name, 'x'), 'utf8')).toBe('ours\n');
      await dockerd.docker('volume', 'rm', name);
      chownSync(join(setup.folder, name, 'x'), 0, 0);
      chownSync(join(setup.folder, name), 0, 0);
      const mount = { kind: 'bind', source: join(setup.folder, name), target: '/data', readonly: false } as const;
      expect(await script('cat /data/x; stat -c %U /data/x', [{ ...mount, mapOwner: true, volume: name }])).toBe(
        'ours\nagent\n',
      );
    });
  });

  describe('a reader that starts late', () => {
    // The Docker Engine holds a million bytes, and sockets and pipes more, so the writer ends with all of it unread. How much sockets hold
    // depends on the sizes of the writes.
    const bytes = 1_000_000;
    const command = ['/bin/sh', '-c', `echo >> /shared/begun; yes | head -c ${bytes}; echo >> /shared/ended`];

    const written = (mark: 'begun' | 'ended') =>
      until('the writer', async () => (await setup.shared.lines(mark)) || null);

    async function length(stream: AsyncIterable<unknown>): Promise<number> {
      let total = 0;
      for await (const chunk of stream) total += (chunk as Buffer).length;
      return total;
    }

    it('gets all output of the command', async () => {
      const launch = setup.launch({ command, console: true });
      await setup.engine.start(launch);
      const console = await setup.engine.attach(launch.id, null);
      console.stderr.resume();
      // Podman does not buffer all output, so there the writer waits for the reader.
      await written(isPodman ? 'begun' : 'ended');
      const kind = async () => (await setup.engine.inspect(launch.id, null)).kind;
      if (!isPodman) await until('its end', async () => (await kind()) === 'exited' || null);
      expect(await length(console.stdout)).toBe(bytes);
    });

    it('gets all output of a later command', async () => {
      const launch = setup.launch({});
      const { handle } = await setup.engine.start(launch);
      const spec = { command, env: {}, cwd: '/', stdin: false, terminal: null };
      const process = await setup.engine.exec(launch.id, handle, spec);
      process.stderr.resume();
      // How much output is buffered before the reader starts depends on the kernel, so the writer may have to wait.
      await written('begun');
      expect(await length(process.stdout)).toBe(bytes);
      expect(await process.exited).toMatchObject({ exitCode: 0 });
    });
  });

  describe('without an image', () => {
    it("the sandbox sees the host's programs, and nothing else of the host", async () => {
      const text =
        'whoami; /usr/bin/env true && echo runs; ls /home /root /etc/shadow /srv 2>/dev/null; touch /usr/x || echo no';
      const launch = setup.launch({ root: { kind: 'host' }, command: ['/bin/sh', '-c', `exec 2>/dev/null; ${text}`] });
      expect(await outputOf(setup.engine, launch)).toBe('agent\nruns\n/home:\nno\n');
      expect(await outputOf(setup.engine, { ...launch, id: setup.launch({}).id })).toBe('agent\nruns\n/home:\nno\n');
      expect((await dockerd.docker('images', '--quiet', 'carrel-host')).split('\n')).toHaveLength(1);
    });
  });

  describe('a launch with unusual requests', () => {
    it('is refused for an image that does not exist, a folder as root, and a link in the path of a mount', async () => {
      const refused = (overrides: Parameters<DockerSetup['launch']>[0]) =>
        codeOf(setup.engine.start(setup.launch(overrides)));
      expect(await refused({ root: { kind: 'image', reference: 'no-such-image' } })).toBe('not_found');
      expect(await refused({ root: { kind: 'directory', path: setup.folder } })).toBe('unsupported');
      const source = join(setup.folder, 'nothing');
      expect(await refused({ mounts: [{ kind: 'bind', source, target: '/x', readonly: true }] })).toBe('invalid');
      const link = '/proc/self/cwd';
      expect(await refused({ mounts: [{ kind: 'bind', source: link, target: '/x', readonly: true }] })).toBe('denied');
      expect(await setup.engine.list()).toEqual([]);
    });

    it('counts a limit that its mounts enforce as enforced', async () => {
      const launch = setup.launch({ held: ['diskBytes'] });
      const { advisory } = await setup.engine.start(launch);
      expect(advisory).not.toContain('diskBytes');
      await setup.engine.remove(launch.id, null);
    });
  });

  describe('the log', () => {
    it('keeps bytes that are not text, and lines longer than any buffer', async () => {
      const launch = setup.launch({
        command: ['/bin/sh', '-c', 'printf "a\\377\\200b\\n"; head -c 40000 /dev/zero | tr "\\0" x; echo; echo end'],
      });
      await setup.engine.start(launch);
      await dockerd.docker('wait', container(launch.id));
      const read = async (tail: number | null) => {
        const pieces: Buffer[] = [];
        for await (const { bytes } of setup.engine.logs(launch.id, { follow: false, tail })) pieces.push(bytes);
        return Buffer.concat(pieces).toString('latin1');
      };
      const long = `${'x'.repeat(40_000)}\n`;
      expect(await read(null)).toBe(`a\xff\x80b\n${long}end\n`);
      expect(await read(2)).toBe(`${long}end\n`);
      expect(await read(1)).toBe('end\n');
    });
  });
});

/** The uid of a user's agent, inside and outside. */
function agentOf(slot: number): number {
  return 0x7000_0000 + slot * 65_536 + 1000;
}
