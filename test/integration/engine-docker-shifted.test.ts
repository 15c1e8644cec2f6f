// @needs root
/**
 * Containers in user namespaces: of a dockerd that shifts all ids, and of sysbox-runc, which does so by itself. dockerd
 * has a stand-in for sysbox-runc under that name, which is made of runc.
 */
import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { containerName } from '../../src/kernel/engine/docker/naming.ts';
import type { Mount } from '../../src/model/mount.ts';
import { type DockerSetup, dockerSetup, outputOf } from '../harness/docker-engine.ts';
import { Dockerd } from '../harness/dockerd.ts';

const owner = 4321;
const sysbox = 'sysbox-runc';
const standIn = resolve('test/fixtures/sysbox-runc');

/** Sets the subordinate ids of this mount namespace alone. */
function lend(lines: string): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-subuid-'));
  const file = join(folder, 'ids');
  writeFileSync(file, lines);
  const places = ['/etc/subuid', '/etc/subgid'];
  for (const place of places) {
    if (!existsSync(place)) writeFileSync(place, '');
    execFileSync('mount', ['--bind', file, place]);
  }
  return () => {
    for (const place of places) execFileSync('umount', ['--lazy', place]);
    rmSync(folder, { recursive: true });
  };
}

let dockerd: Dockerd;
let setup: DockerSetup;
let project: string;

beforeEach(async () => {
  setup = await dockerSetup(dockerd);
  project = join(setup.folder, 'project');
  mkdirSync(project, { mode: 0o700 });
  writeFileSync(join(project, 'kept'), 'kept\n', { mode: 0o600 });
  for (const path of [project, join(project, 'kept')]) chownSync(path, owner, owner);
});
afterEach(async () => {
  expect(await setup.engine.list()).toEqual([]);
  await setup.engine.dispose();
  await setup.cleanup();
});

function overlay(): Mount {
  const folder = join(setup.folder, 'layers');
  for (const name of ['upper', 'work']) mkdirSync(join(folder, name), { recursive: true });
  return { kind: 'overlay', lower: project, folder, target: '/workspace', mapOwner: true };
}

const bind = (readonly: boolean): Mount => ({
  ...{ kind: 'bind', source: project, target: readonly ? '/.workspace' : '/workspace', readonly, mapOwner: true },
});

const script = (text: string, mounts: readonly Mount[], runtime: string | null = null, slot = 0) =>
  outputOf(setup.engine, setup.launch({ command: ['/bin/sh', '-c', `exec 2>&1; ${text}`], mounts, runtime, slot }));

/** Prints the id map, the user, and what agent can do in a working copy. */
const work = 'cat /proc/self/uid_map; id -u; whoami; cat kept; echo new > new; touch /.workspace/x';
const worked = (first: number, agent: number) =>
  expect.stringMatching(
    new RegExp(`^ +0 +${first} +65536\\n${agent}\\nagent\\nkept\\ntouch: /.workspace/x: Read-only file system\\n$`),
  );
const made = () => statSync(join(setup.folder, 'layers/upper/new')).uid;

describe('a dockerd with userns-remap', () => {
  let giveBack: () => void;
  beforeAll(async () => {
    giveBack = lend('nobody:300000:65536\n');
    dockerd = await Dockerd.open(['--userns-remap', 'nobody:nogroup']);
  });
  afterAll(async () => {
    await dockerd.dispose();
    giveBack();
  });

  it.each([0, 7])('has working copies of any owner, and agents of its own range: user %i', async (slot) => {
    const text = await script(`cd /workspace; ${work}`, [overlay(), bind(true)], null, slot);
    expect(text).toEqual(worked(300_000, 1000 + slot));
    expect(made()).toBe(301_000 + slot);
  });

  it('refuses a runtime that it does not have, and names those that it has', async () => {
    await expect(setup.engine.start(setup.launch({ runtime: sysbox }))).rejects.toMatchObject({
      code: 'unsupported',
      message: `this Docker Engine has no runtime ${sysbox}`,
      hint: 'It has runc; /etc/docker/daemon.json names others.',
    });
  });

  it('binds a folder so that new files in it belong to its owner, without set-user-id bits', async () => {
    expect(await script('cd /workspace; touch made; chmod u+s made', [bind(false)])).toContain('not permitted');
    expect(statSync(join(project, 'made'))).toMatchObject({ uid: owner, gid: owner });
  });
});

describe('a dockerd with sysbox-runc', () => {
  beforeAll(async () => {
    dockerd = await Dockerd.open(['--add-runtime', `${sysbox}=${standIn}`]);
  });
  afterAll(() => dockerd.dispose());

  it('runs sandboxes that ask for it, with its subordinate ids and its own filter', async () => {
    const giveBack = lend('other:1:2\nsysbox:400000:65536\n');
    try {
      const text = await script(`cd /workspace; ${work}`, [overlay(), bind(true)], sysbox);
      expect(text).toEqual(worked(400_000, 1000));
      expect(made()).toBe(401_000);
      const launch = setup.launch({ runtime: sysbox });
      expect(await setup.engine.start(launch)).toMatchObject({ runtime: sysbox });
      const format = '{{.HostConfig.Runtime}} {{.HostConfig.SecurityOpt}}';
      const told = await dockerd.docker('inspect', '--format', format, containerName(launch.hostname, launch.id));
      expect(told).toBe(`${sysbox} [no-new-privileges:true]`);
      await setup.engine.remove(launch.id, null);
    } finally {
      giveBack();
    }
  });

  it('is refused without subordinate ids, and if agent could make set-user-id files', async () => {
    const start = (mounts: readonly Mount[]) => setup.engine.start(setup.launch({ runtime: sysbox, mounts }));
    await expect(start([])).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining('/etc/subuid has no line for the user sysbox'),
      hint: expect.stringContaining('leave --runtime out'),
    });
    await expect(start([bind(false)])).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringContaining(`set-user-id files in ${project}`),
      hint: expect.stringContaining('--mode overlay'),
    });
  });

  it('is used only for sandboxes that ask for it', async () => {
    expect(await script('cat /proc/self/uid_map', [])).toMatch(/^ +0 +0 +4294967295\n$/);
  });
});
