import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { factsFrom } from './connection/facts.ts';
import { examineDocker, rowsFor, rowsOf } from './probe.ts';

const plain = {
  ServerVersion: '20.10.24',
  SecurityOptions: ['name=seccomp,profile=default'],
  Runtimes: { runc: {}, 'io.containerd.runc.v2': {}, 'sysbox-runc': {} },
  DefaultRuntime: 'runc',
  ...{ MemoryLimit: true, SwapLimit: true, CpuCfsQuota: true, PidsLimit: true },
  Plugins: { Log: ['json-file', 'local'] },
};

describe('rows of the probe', () => {
  const rows = (info: object, canMount = true) => rowsOf(factsFrom(info), { socketPath: '/docker.sock', canMount });
  const levels = (info: object, canMount?: boolean) =>
    Object.fromEntries(rows(info, canMount).map(({ name, level }) => [name, level]));

  it('are ok if nothing is missing', () => {
    expect(Object.keys(levels(plain))).toEqual([
      'docker',
      'docker-runtime',
      'docker-seccomp',
      'docker-user-namespace',
      'docker-cgroups',
      'docker-workspaces',
      'docker-storage',
      'docker-restart',
    ]);
    expect(new Set(Object.values(levels(plain)))).toEqual(new Set(['ok']));
  });

  it('have a hint unless they are ok', () => {
    expect(levels(plain, false)).toMatchObject({ 'docker-user-namespace': 'warning', 'docker-workspaces': 'warning' });
    expect(levels({ ...plain, SecurityOptions: ['name=rootless'] })).toMatchObject({
      'docker-user-namespace': 'failure',
      'docker-seccomp': 'failure',
    });
    expect(levels({})).toMatchObject({ 'docker-seccomp': 'failure', 'docker-cgroups': 'warning' });
    for (const row of rows({}, false)) if (row.level !== 'ok') expect(row.hint).not.toBeNull();
  });

  it('report whether sysbox-runc is installed', () => {
    const runtime = (info: object) => rows(info).find(({ name }) => name === 'docker-runtime')!.detail;
    expect(runtime(plain)).toBe('runc, sysbox-runc');
    expect(runtime({ ...plain, Runtimes: {} })).toBe('runc; --runtime sysbox-runc is not installed');
  });
});

describe('examineDocker', () => {
  let folder: string;
  let socket: string;
  let server: http.Server | null = null;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'carrel-docker-'));
    socket = join(folder, 'docker.sock');
  });
  afterEach(async () => {
    server?.closeAllConnections();
    await new Promise((done) => (server ? server.close(done) : done(null)));
    server = null;
    rmSync(folder, { recursive: true });
  });

  const answer = (info: object, components: string[]) => {
    server = http.createServer((request, response) => {
      const version = { Components: components.map((Name) => ({ Name })) };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(request.url!.endsWith('/version') ? version : info));
    });
    return new Promise<void>((done) => server!.listen(socket, done));
  };

  it('reports Docker with name and version', async () => {
    await answer(plain, ['Engine', 'containerd']);
    const { about } = await examineDocker(socket);
    expect(about).toEqual({
      version: 'Docker Engine 20.10.24',
      runtime: 'runc',
      runtimes: ['runc', 'sysbox-runc'],
      at: socket,
      refusal: null,
    });
  });

  it('reports Podman by its name', async () => {
    await answer({ ...plain, ServerVersion: '4.3.1', DefaultRuntime: 'crun' }, ['Podman Engine', 'Conmon']);
    const { about, rows } = await examineDocker(socket);
    expect(about).toMatchObject({ version: 'Podman 4.3.1', runtime: 'crun' });
    expect(rows[0]!.detail).toBe(`Podman 4.3.1 at ${socket}`);
  });

  it('reports why it cannot be used, with a hint', async () => {
    await answer({ ...plain, SecurityOptions: [] }, ['Engine']);
    const { about } = await examineDocker(socket);
    expect(about.refusal).toMatchObject({ reason: expect.stringContaining('no system call is filtered') });
    expect(about.refusal!.hint).not.toBe('');
  });

  it('reports an engine that does not exist as a failure only if the user wants that engine', async () => {
    const examined = await examineDocker(socket);
    expect(examined.about).toMatchObject({
      version: null,
      at: socket,
      refusal: { hint: expect.stringMatching(/Start/) },
    });
    expect(rowsFor(examined, true)).toEqual([expect.objectContaining({ level: 'failure' })]);
    expect(rowsFor(examined, false)).toEqual([expect.objectContaining({ name: 'docker', level: 'ok', hint: null })]);
  });

  it('reports an engine that does not answer at its socket', async () => {
    writeFileSync(socket, '');
    const examined = await examineDocker(socket);
    expect(rowsFor(examined, true)[0]!.level).toBe('failure');
    expect(rowsFor(examined, false)[0]).toMatchObject({ level: 'warning', hint: expect.any(String) });
  });
});
