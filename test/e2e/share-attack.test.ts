/** A hostile sandbox with a share tries to keep it, to lead the host to other files, and to leave files behind. */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ShareView } from '../../src/noun/share/api.ts';
import { Installation, until } from '../harness/installation.ts';

/** Ways to keep a mount in use; each makes the file `ready` once it holds the mount. */
const holds = {
  'an open file': "f = open('/in/file', 'w'); ready(); pause()",
  'its working folder': "os.chdir('/in'); ready(); pause()",
  'a mapped file':
    "f = open('/in/file', 'w+b'); f.truncate(4096); m = mmap.mmap(f.fileno(), 4096); f.close(); ready(); pause()",
  'a descriptor that is on its way through a socket':
    "d = os.open('/in', os.O_RDONLY); a, b = socket.socketpair(); socket.send_fds(a, [b'x'], [d]); os.close(d); ready(); pause()",
};
const prelude = `import mmap, os, signal, socket
def ready(): open('/in/ready', 'w').close()
def pause(): signal.pause()
`;

describe('a hostile sandbox with a share', () => {
  let carrel: Installation;
  let place: string;
  let path: string;
  let count = 0;

  beforeAll(() => {
    carrel = new Installation();
    place = carrel.folder('shared');
  });
  afterAll(() => carrel.dispose());
  afterEach(async () => {
    await carrel.clear();
    for (const { name } of await carrel.json<ShareView[]>('share', 'ls')) await carrel.ok('share', 'revoke', name);
  });

  async function box(...command: string[]): Promise<void> {
    count += 1;
    path = join(place, `folder-${count}`);
    mkdirSync(path);
    await carrel.ok('share', 'add', 'inbox', path);
    await carrel.ok(
      'create',
      '--name',
      'box',
      '--share',
      'inbox:/in',
      ...(command.length > 0 ? ['--', ...command] : []),
    );
  }
  const inside = async (script: string) => (await carrel.run(['exec', 'box', '--', 'sh', '-c', script])).stdout;

  it.each(Object.entries(holds))(
    'does not keep the share by %s: revoke says so, and --force ends it',
    async (_, script) => {
      await box('python3', '-c', prelude + script);
      await until(() => existsSync(join(path, 'ready')), 'the holder');
      const { exitCode, stderr } = await carrel.run(['share', 'revoke', 'inbox', 'box']);
      expect([exitCode, stderr]).toEqual([6, expect.stringContaining('box uses inbox')]);
      expect(await carrel.show('box')).toMatchObject({ state: 'running', shares: [{ name: 'inbox' }] });
      expect(await carrel.json('share', 'revoke', 'inbox', 'box', '--force')).toMatchObject({ stopped: ['box'] });
      expect(await carrel.show('box')).toMatchObject({ state: 'stopped', shares: [] });
    },
  );

  it('cannot write after a revocation that happened between two writes', async () => {
    await box('sh', '-c', 'i=0; while :; do i=$((i + 1)); echo $i > /in/number || touch /tmp/denied; done');
    await until(() => existsSync(join(path, 'number')), 'the writer');
    await until(
      async () => (await carrel.run(['share', 'revoke', 'inbox', 'box'])).exitCode === 0,
      'a moment between writes',
    );
    const last = statSync(join(path, 'number'), { bigint: true }).mtimeNs;
    await until(async () => (await inside('ls /tmp')) === 'denied\n', 'a refused write');
    expect(statSync(join(path, 'number'), { bigint: true }).mtimeNs).toBe(last);
  });

  it('can neither move, remove nor cover the mount point, and the share can still be revoked', async () => {
    await box();
    const tries =
      'mv /in /tmp/in; rmdir /in; umount /in; mount --bind /tmp /in; ln -sfn /tmp /in; mkdir /in/x; echo end';
    expect(await inside(`(${tries}) 2>/dev/null`)).toBe('end\n');
    expect(readdirSync(path).sort()).toEqual(['tmp', 'x']);
    await carrel.ok('share', 'revoke', 'inbox', 'box');
    expect(await inside('touch /in/y || echo gone')).toBe('gone\n');
  });

  it('makes no file in it that runs as another account, and no device', async () => {
    await box();
    expect(
      await inside('cd /in; cp /bin/true t; chmod u+s t || echo no; chmod g+s t || echo no; mknod d c 1 3 || echo no'),
    ).toBe('no\nno\nno\n');
    expect(statSync(join(path, 't')).mode & 0o6000).toBe(0);
  });

  it('cannot lead verify to another file by links at the names of probes', async () => {
    const canary = join(place, 'canary');
    writeFileSync(canary, 'untouched');
    await box(
      'sh',
      '-c',
      `while :; do for f in /in/.carrel-probe-*; do [ -L "$f" ] || ln -sfn ${canary} "$f"; done; done 2>/dev/null`,
    );
    for (let round = 0; round < 3; round += 1)
      expect([0, 6]).toContain((await carrel.run(['share', 'verify', 'inbox'])).exitCode);
    expect(readFileSync(canary, 'utf8')).toBe('untouched');
    await carrel.ok('stop', '--grace', '0', 'box');
    expect(readdirSync(path).filter((name) => !name.includes('*') && !name.startsWith('.carrel-probe'))).toEqual([]);
  });

  it('cannot open the folder to all accounts without a warning', async () => {
    await box();
    await inside('chmod 777 /in');
    expect((await carrel.json<ShareView[]>('share', 'ls'))[0]!.warnings).toEqual([
      expect.stringContaining('every account'),
    ]);
  });
});
