/** Secrets as sandboxes get them: in memory, readable for agent alone, for as long as the sandbox lives. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Engine, Launch } from '../../src/kernel/engine/engine.ts';
import { openLocalEngine } from '../../src/kernel/engine/local/local.ts';
import { defaultLimits } from '../../src/model/limits.ts';
import type { Mount } from '../../src/model/mount.ts';
import { MemorySecrets } from '../../src/noun/user/secret/sandbox-secrets.ts';
import { secretsMount } from '../../src/noun/user/secret/secret.ts';
import { Heard } from '../conformance/engine/wait.ts';
import { installationId } from '../harness/run.ts';

const one = '00000000000000a1';
const two = '00000000000000b2';

let installation: string;
let all: string;
let secrets: MemorySecrets;

beforeEach(() => {
  installation = installationId();
  all = `/dev/shm/carrel-${installation}`;
  secrets = new MemorySecrets(installation);
});

afterEach(() => rmSync(all, { recursive: true, force: true }));

function secret(name: string, value: string) {
  return { name, value: Buffer.from(value) };
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o7777).toString(8);
}

describe('a secret inside a sandbox', () => {
  let folder: string;
  let engine: Engine;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'carrel-secret-'));
    engine = openLocalEngine({ folder, installation });
  });

  afterEach(async () => {
    for (const id of [one, two]) await engine.remove(id, null);
    await engine.dispose();
    rmSync(folder, { recursive: true });
  });

  async function start(id: string, mounts: readonly Mount[] = [secretsMount(installation, id)]): Promise<unknown> {
    const launch: Launch = {
      id,
      hostname: 'box',
      slot: 0,
      runtime: 'crun',
      root: { kind: 'host' },
      mounts,
      command: [],
      env: { PATH: '/usr/bin:/bin' },
      cwd: '/',
      limits: { ...defaultLimits, memoryBytes: 256 * 1024 ** 2 },
      demanded: [],
      held: [],
      stdin: false,
      terminal: null,
      console: false,
    };
    return (await engine.start(launch)).handle;
  }

  async function exec(id: string, handle: unknown, script: string) {
    const command = ['/bin/sh', '-c', script];
    return engine.exec(id, handle, { command, env: {}, cwd: '/', stdin: false, terminal: null });
  }

  async function run(id: string, handle: unknown, script: string): Promise<string> {
    const process = await exec(id, handle, script);
    const [output, errors, { exitCode }] = await Promise.all([
      text(process.stdout),
      text(process.stderr),
      process.exited,
    ]);
    return exitCode === 0 ? output : `${output}${errors}exit ${exitCode}`;
  }

  it('is readable by the agent, in memory, mode 0400', async () => {
    secrets.put(one, [secret('key', 'the value')]);
    const handle = await start(one);
    expect(await run(one, handle, 'id -u; cat /run/secrets/key')).toBe('1000\nthe value');
    expect(await run(one, handle, 'stat -c "%u %g %a %F" /run/secrets/key /run/secrets')).toBe(
      '1000 1000 400 regular file\n1000 1000 700 directory\n',
    );
    expect(await run(one, handle, 'stat -f -c %T /run/secrets; ls -A /run/secrets')).toBe('tmpfs\nkey\n');
  });

  it("is readable also if the agent has the uid of the project's owner", async () => {
    const project: Mount = { kind: 'bind', source: folder, target: '/workspace', readonly: false, mapOwner: true };
    secrets.put(one, [secret('key', 'the value')]);
    const handle = await start(one, [project, secretsMount(installation, one)]);
    expect(await run(one, handle, 'stat -c "%u %a" /workspace /run/secrets /run/secrets/key')).toBe(
      '1000 700\n1000 700\n1000 400\n',
    );
    secrets.rotate(one, 'key', Buffer.from('another'));
    expect(await run(one, handle, 'cat /run/secrets/key')).toBe('another');
  });

  it('cannot be written, removed, replaced or added to', async () => {
    secrets.put(one, [secret('key', 'the value')]);
    const handle = await start(one);
    const attempts = [
      'echo x > key',
      'chmod 600 key',
      'rm -f key',
      'mv key other',
      'ln -s /etc/passwd new',
      'ln key new',
      'touch new',
      'cp -f /etc/passwd key',
      'truncate -s 0 key',
      'chmod 777 .',
      'mount -o remount,rw /run/secrets',
      'umount /run/secrets',
      'mount --bind /tmp /run/secrets',
      'unshare -rm mount -o remount,bind,rw /run/secrets',
      'unshare -rm umount /run/secrets',
      'mv /run/secrets /run/other',
    ];
    const script = attempts.map((attempt) => `if (${attempt}) 2>/dev/null; then echo '${attempt}'; fi`).join('\n');
    expect(await run(one, handle, `cd /run/secrets\n${script}\ntrue`)).toBe('');
    expect(readdirSync(join(all, one))).toEqual(['key']);
    expect(readFileSync(join(all, one, 'key'), 'utf8')).toBe('the value');
    expect(modeOf(join(all, one, 'key'))).toBe('400');
  });

  it('is in no other sandbox and nowhere but in the file', async () => {
    const canary = randomBytes(16).toString('hex');
    secrets.put(one, [secret('key', canary)]);
    secrets.put(two, [secret('another', 'value')]);
    const handles = [await start(one), await start(two)];
    expect(await run(two, handles[1], 'ls -A /run/secrets /dev/shm')).toBe('/dev/shm:\n\n/run/secrets:\nanother\n');
    const everything = 'cat /proc/*/environ /proc/*/cmdline /proc/*/mountinfo 2>/dev/null | tr "\\0" "\\n"';
    for (const [index, id] of [one, two].entries()) {
      const seen = await run(id, handles[index], everything);
      expect(seen).toContain('PATH=/usr/bin:/bin');
      expect(seen).toContain('/run/secrets');
      expect(seen).not.toContain(canary);
    }
    expect(filesWith(canary, folder)).toEqual([]);
    expect(processesThatShow(canary)).toEqual([]);
  });

  it('is absent from a sandbox that was not granted it', async () => {
    const handle = await start(one, []);
    expect(await run(one, handle, '[ ! -e /run/secrets ] && echo absent')).toBe('absent\n');
  });

  it('is replaced as a whole while the sandbox runs', async () => {
    const values = ['a', 'b'].map((letter) => Buffer.alloc(500_000, letter));
    const known = values.map((value) => createHash('sha256').update(value).digest('hex'));
    secrets.put(one, [{ name: 'key', value: values[0]! }, secret('still', 'the same')]);
    const handle = await start(one);
    const before = statSync(join(all, one, 'key'));
    const reader = await exec(
      one,
      handle,
      'while :; do ls -A /run/secrets | tr "\\n" " "; sha256sum < /run/secrets/key; done',
    );
    reader.stderr.resume();
    const heard = new Heard(reader.stdout);
    const lines = () => heard.bytes.toString().split('\n').slice(0, -1);
    for (let n = 0; n < 200 || lines().length < 5; n += 1) {
      expect(secrets.rotate(one, 'key', values[n % 2]!)).toBe(true);
      await new Promise(setImmediate);
    }
    secrets.rotate(one, 'key', values[1]!);
    expect(await run(one, handle, 'sha256sum < /run/secrets/key; stat -c "%u %g %a" /run/secrets/key')).toBe(
      `${known[1]}  -\n1000 1000 400\n`,
    );
    expect(statSync(join(all, one, 'key')).uid).toBe(before.uid);
    reader.detach();
    expect(lines().filter((line) => !known.some((hash) => line === `key still ${hash}  -`))).toEqual([]);
  });

  it('can be put again into a running sandbox, and is removed from it at once', async () => {
    secrets.put(one, [secret('key', 'old'), secret('gone', 'soon')]);
    const handle = await start(one);
    secrets.put(one, [secret('key', 'new'), secret('more', 'added')]);
    expect(await run(one, handle, 'cd /run/secrets; ls -A; cat key more')).toBe('key\nmore\nnewadded');
    secrets.remove(one);
    expect(await run(one, handle, 'ls -A /run/secrets')).toBe('');
  });

  it('can be read again after a stop and a start, and is removed with the sandbox', async () => {
    secrets.put(one, [secret('key', 'value')]);
    const first = await start(one);
    await engine.remove(one, first);
    secrets.remove(one);
    expect(existsSync(all)).toBe(false);
    secrets.put(one, [secret('key', 'another')]);
    const second = await start(one);
    expect(await run(one, second, 'cat /run/secrets/key')).toBe('another');
    await engine.remove(one, second);
    secrets.remove(one);
    expect([existsSync(all), await engine.list()]).toEqual([false, []]);
  });
});

/** Files of the engine that hold the text, its records and logs included. */
function filesWith(value: string, folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path).includes(value));
}

/** Files of processes that show the text. Processes that end meanwhile or may not be read show nothing. */
function processesThatShow(value: string): string[] {
  const files = readdirSync('/proc').flatMap((pid) =>
    ['environ', 'cmdline', 'mountinfo'].map((n) => `/proc/${pid}/${n}`),
  );
  return files.filter((path) => {
    try {
      return readFileSync(path).includes(value);
    } catch {
      return false;
    }
  });
}
