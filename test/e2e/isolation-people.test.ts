// @needs root
/** Two users of one daemon, on each engine: nothing of one user is reachable from the sandbox of the other. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { userHash } from '../../src/noun/volume/model.ts';
import { attackCommand, linkOr, readOr } from '../fixtures/attacks/testbed.ts';
import { Dockerd } from '../harness/dockerd.ts';
import { Installation, type Outcome, until } from '../harness/installation.ts';
import { filesBelow } from '../harness/traces.ts';

interface Reached {
  readonly tcp: Readonly<Record<string, string>>;
  readonly unix: Readonly<Record<string, string>>;
  readonly abstract: Readonly<Record<string, string>>;
}

const port = 47_312;
const secret = 'of-ann-alone';

/** The pid on the host of the first process in this user namespace. */
function firstPidIn(userNamespace: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const isFirst = (pid: string) => /^NSpid:.*\t1$/m.test(readOr(`/proc/${pid}/status`, ''));
  return Number(pids.find((pid) => linkOr(`/proc/${pid}/ns/user`, '') === userNamespace && isFirst(pid)));
}

describe.each(['local', 'docker'])('on %s', (engine) => {
  let dockerd: Dockerd | null;
  let carrel: Installation;
  let asBob: (args: readonly string[]) => Promise<Outcome>;
  let annsFiles: string[];

  beforeAll(async () => {
    dockerd = engine === 'docker' ? await Dockerd.open() : null;
    carrel = new Installation(null, dockerd);
    const socket = join(carrel.folder('shared'), 'carrel.sock');
    const docker = dockerd ? `docker: {socket: ${dockerd.socketPath}}\n` : '';
    writeFileSync(join(carrel.home, 'config.yaml'), `${docker}share: {socket: ${socket}}\n`);
    const token = join(carrel.folder('bob'), 'token');
    writeFileSync(token, await carrel.ok('user', 'add', 'bob'), { mode: 0o600 });
    asBob = (args) => carrel.run(args, { env: { CARREL_SOCKET: socket, CARREL_TOKEN_FILE: token } });
    const project = carrel.folder('project');
    mkdirSync(join(project, 'src'));
    writeFileSync(join(project, 'src/file'), secret);
    const serve = attackCommand('serve', { port, abstract: secret });
    await carrel.ok('create', '--name', 'ann', '--volume', 'memory-bank:/data', project, '--', ...serve);
    const write = `for place in /data /.data ~ /workspace; do echo ${secret} > $place/secret; chmod 666 $place/secret; done`;
    await carrel.ok('exec', 'ann', '--', 'sh', '-ec', write);
    await until(async () => (await carrel.ok('logs', 'ann')).includes('port'), 'ann to listen');
    expect(await asBob(['create', '--name', 'bob', '--volume', 'memory-bank:/data'])).toMatchObject({ exitCode: 0 });
    annsFiles = filesBelow(carrel.home).filter((path) => basename(path) === 'secret');
  });
  afterAll(async () => {
    await carrel.run(['--user', 'bob', 'rm', '--force', 'bob']);
    await carrel.dispose();
    await dockerd?.dispose();
  });

  const inside = async (...command: string[]) => (await asBob(['exec', 'bob', '--', ...command])).stdout;

  /** Runs a command with all capabilities in the namespaces of bob's sandbox, which no process inside can get. */
  const asRootInside = async (...command: string[]) => {
    const user = (await inside('readlink', '/proc/self/ns/user')).trim();
    const pid = firstPidIn(user);
    const kinds = ['user', 'mount', 'pid', 'net', 'ipc', 'uts'].map((kind) => `--${kind}`);
    const argv = ['--target', String(pid), ...kinds, '--setuid=0', '--setgid=0', '--', ...command];
    return execFileSync('nsenter', argv, { encoding: 'utf8' });
  };
  // On a Docker Engine the sandbox has no user namespace.
  const ways = engine === 'local' ? [inside, asRootInside] : [inside];

  it('bob reads nothing of ann, by her paths or by his own', async () => {
    expect(annsFiles).toHaveLength(4);
    const look = 'cat "$@" /data/* ~/* /.data/* /workspace/* /proc/*/cmdline 2>/dev/null; ls -a /data ~ /.data; true';
    for (const act of ways) expect(await act('sh', '-c', look, 'sh', ...annsFiles)).not.toContain(secret);
    expect(await carrel.ok('exec', 'ann', '--', 'cat', '/data/secret')).toBe(`${secret}\n`);
  });

  it('bob writes nothing of ann', async () => {
    const write = 'for file in "$@"; do echo bob > "$file" && echo "wrote $file"; done 2>/dev/null; true';
    for (const act of ways) {
      expect(await act('sh', '-c', write, 'sh', ...annsFiles)).toBe('');
      await act('sh', '-c', 'echo bob > /data/secret');
    }
    expect(await carrel.ok('exec', 'ann', '--', 'cat', '/data/secret')).toBe(`${secret}\n`);
  });

  it('bob signals and traces no process of ann', async () => {
    const pids = execFileSync('pgrep', ['--full', secret]).toString().trim().split('\n').map(Number);
    const attack = attackCommand('processes', { pids, namespaces: [] });
    for (const act of ways) {
      const { hosts } = JSON.parse(await act(...attack)) as { hosts: Record<string, string>[] };
      expect(hosts).toHaveLength(pids.length);
      for (const { kill, attach, memory } of hosts) expect([kill, attach, memory]).toEqual(Array(3).fill('ESRCH'));
    }
  });

  it('bob connects to nothing of ann', async () => {
    const args = { tcp: [['127.0.0.1', port]], paths: annsFiles, abstract: [secret] };
    for (const act of ways) {
      const reached = JSON.parse(await act(...attackCommand('sockets', args))) as Reached;
      const outcomes = [reached.tcp, reached.unix, reached.abstract].flatMap((one) => Object.values(one));
      expect(outcomes).toHaveLength(6);
      expect([...new Set(outcomes)].sort()).toEqual(['ECONNREFUSED', 'ENOENT']);
    }
  });

  it('bob has ids of his own on the host, and his files belong to them', async () => {
    await inside('touch', '/data/mine');
    const file = (user: string, name: string) =>
      statSync(join(carrel.home, 'volumes', `carrel-memory-bank-${userHash(user)}`, name)).uid;
    const user = (await carrel.list())[0]!.user;
    const [anns, bobs] = [file(user, 'secret'), file('bob', 'mine')];
    expect(Math.floor(anns / 65_536)).not.toBe(Math.floor(bobs / 65_536));
    for (const uid of [anns, bobs]) expect(uid).toBeGreaterThan(0x7000_0000);
    // A process that escaped from bob's sandbox would have these ids, and only file modes would stop it.
    const escaped = (path: string) =>
      execFileSync('setpriv', [`--reuid=${bobs}`, `--regid=${bobs}`, '--clear-groups', '--', 'cat', path], {
        stdio: 'pipe',
      });
    for (const path of annsFiles) expect(() => escaped(path)).toThrow(/Permission denied/);
  });
});
