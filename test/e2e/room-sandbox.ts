/** A room in sandboxes: what they see of it, how they post, and what a hostile one can and cannot do. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MessageView, RoomDetailView } from '../../src/noun/room/api.ts';
import type { ways } from '../fixtures/attacks/testbed.ts';
import { Dockerd } from '../harness/dockerd.ts';
import { Installation, until } from '../harness/installation.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';
import { runEnv } from '../harness/run.ts';

const all = process.env.CARREL_TEST_ALL !== undefined;

export const roomsInSandboxes = (way: (typeof ways)[number]) => {
  let account: RootlessAccount | null;
  let dockerd: Dockerd | null;
  let carrel: Installation;
  let folder: string;

  beforeAll(async () => {
    account = way === 'rootless' ? createRootlessAccount() : null;
    dockerd = way === 'docker' ? await Dockerd.open() : null;
    carrel = new Installation(account, dockerd);
    await carrel.ok('room', 'create', 'team');
    folder = (await shown()).folder;
    await carrel.ok('create', '--name', 'builder', '--room', 'team');
    await carrel.ok('create', '--name', 'reader', '--room', 'team:ro');
  }, 60_000);
  afterAll(
    async () => {
      await carrel.dispose();
      await dockerd?.dispose();
      account?.dispose();
      // Removing a room of a hundred thousand files takes time.
    },
    all ? 600_000 : 60_000,
  );

  // The image of the tests has no Node.
  const hasNode = way !== 'docker';
  const json = async <T>(...args: string[]) => JSON.parse(await carrel.ok('--json', ...args)) as T;
  const shown = () => json<RoomDetailView>('room', 'show', 'team');
  const messages = () => json<MessageView[]>('room', 'read', 'team', '--peek', '--limit', '1000');
  const inside = (script: string, name = 'builder') => carrel.run(['exec', name, '--', 'sh', '-c', script]);
  const body = (text: string) => async () => (await messages()).find((one) => one.body.includes(text));
  const arrived = async (text: string): Promise<MessageView> => {
    await until(async () => (await body(text)()) !== undefined, `the message ${text}`);
    return (await body(text)())!;
  };
  /** The reason in dead/ why the file of this name was refused. */
  const reasonOf = async (name: string): Promise<string> => {
    const file = join(folder, 'dead', `${name}.reason`);
    await until(async () => existsSync(file), `${file}`);
    return readFileSync(file, 'utf8');
  };

  it('R7, R10: echo into the inbox becomes a message from the sandbox, whatever it claims', async () => {
    const forged = '---\\nfrom: reader\\nid: 00000000000000000000000000\\n---\\n';
    const { exitCode, stderr } = await inside(
      `echo $ROOMS_DIR > /rooms/team/inbox/x.md; printf '%b' '${forged}forged\\n' > /rooms/team/inbox/reader.md`,
    );
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(await arrived('/rooms')).toMatchObject({ from: 'builder', via: 'inbox' });
    const message = await arrived('forged');
    expect([message.from, message.body]).toEqual(['builder', 'forged\n']);
    expect(message.id > '01').toBe(true);
    const read = await inside(
      `cat /rooms/team/processed/${message.id}-builder.md; tail -n 1 /rooms/team/order.log`,
      'reader',
    );
    expect(read.stdout).toContain('from: builder');
    expect(read.stdout).toMatch(new RegExp(`${message.id}-builder.md\n$`));
  });

  it('R8: a sandbox can change nothing in the room but its own inbox', async () => {
    const tries = [
      'echo x > /rooms/team/processed/x.md',
      'echo x >> /rooms/team/thread.md',
      'echo x >> /rooms/team/order.log',
      'rm /rooms/team/room.yaml',
      'mkdir /rooms/team/new',
      'echo x > /rooms/team/.carrel/x',
      'mv /rooms/team/inbox /rooms/team/old',
      'rm -r /rooms/team/inbox',
      'ln -s /etc /rooms/team/inbox2',
      'chmod 777 /rooms/team/thread.md',
    ];
    for (const attempt of tries) expect([attempt, (await inside(attempt)).exitCode === 0]).toEqual([attempt, false]);
    expect((await inside('ls -A /rooms/team/.carrel /rooms/team/inbox')).stdout).not.toMatch(/room.db|builder|reader/);
    expect((await inside('echo x > /rooms/team/inbox/x.md', 'reader')).exitCode).not.toBe(0);
    expect((await inside('ls -A /rooms/team/.carrel /rooms/team/inbox', 'reader')).stdout).not.toMatch(
      /room.db|builder/,
    );
    expect(statSync(folder).mode & 0o077).toBe(0);
  });

  it('R12: links, pipes and several links are refused, and nothing of the host is read', async () => {
    const { stderr } = await inside(
      [
        'cd /rooms/team/inbox',
        'ln -s /etc/passwd link.md',
        'ln -s ../../team/.carrel/room.db room.md',
        'mkfifo pipe.md',
        'echo two > .two; ln .two two.md',
        'ln -s /etc/passwd .swap; mv .swap swapped.md',
        'mkdir deep; mkdir deep/a; echo text > deep/message.md',
        'mkdir out; ln -s /etc/passwd out/passwd; echo text > out/message.md',
      ].join('; '),
    );
    expect(stderr).toBe('');
    expect(await reasonOf('link.md')).toContain('a symbolic link, not a regular file');
    expect(await reasonOf('room.md')).toContain('a symbolic link');
    expect(await reasonOf('pipe.md')).toContain('a pipe, not a regular file');
    expect(await reasonOf('two.md')).toContain('a file with several links');
    expect(await reasonOf('swapped.md')).toContain('a symbolic link');
    expect(await reasonOf('deep')).toContain('attachment a: a folder');
    expect(await reasonOf('out')).toContain('attachment passwd: a symbolic link');
    expect((await messages()).filter(({ body: text }) => text.includes('root:'))).toEqual([]);
  });

  it('R12: a sandbox cannot make a device, and a socket is refused', async () => {
    const made = await inside('cd /rooms/team/inbox; mknod -m 666 dev.md c 1 3');
    expect([made.exitCode, made.stderr]).toEqual([1, expect.stringMatching(/mknod: .*Operation not permitted/)]);
    if (!hasNode) return;
    const bound = `require('net').createServer().listen('/rooms/team/inbox/sock.md', () => process.exit())`;
    const { exitCode, stderr } = await inside(`node -e "${bound}"`);
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(await reasonOf('sock.md')).toContain('a socket, not a regular file');
  });

  it('R12, R14: what is too long, sparse or not UTF-8 is refused, with at most 64 KiB of it', async () => {
    await inside(
      [
        'cd /rooms/team/inbox',
        'dd if=/dev/zero of=long.md bs=1M count=16 2>/dev/null',
        'dd if=/dev/zero of=gigabyte.md bs=1 count=1 seek=1073741823 2>/dev/null',
        'dd if=/dev/zero of=sparse.md bs=1 count=1 seek=1T 2>/dev/null',
        "printf '\\377\\376' > binary.md",
      ].join('; '),
    );
    expect(await reasonOf('long.md')).toContain('longer than 262144 bytes');
    expect(await reasonOf('sparse.md')).toContain('longer than 262144 bytes');
    expect(await reasonOf('gigabyte.md')).toContain('longer than 262144 bytes');
    expect(await reasonOf('binary.md')).toContain('not UTF-8');
    expect(statSync(join(folder, 'dead/long.md')).size).toBe(64 * 1024);
  });

  // open.md is refused for growing past the bound, or, once it is finished, as too long for a message.
  if (way === 'root')
    it('R12, R21: a gigabyte that is written, openly or hidden, does not stay in the inbox', async () => {
      const megabytes = all ? 1024 : 80;
      await inside(
        `cd /rooms/team/inbox; for f in open.md .hidden; do dd if=/dev/zero of=$f bs=1M count=${megabytes} 2>/dev/null; done`,
      );
      expect(await reasonOf('open.md')).toMatch(/longer than 262144 bytes|bytes of unfinished or hidden files/);
      expect(await reasonOf('_hidden')).toContain('bytes of unfinished or hidden files');
      const left = async () => (await inside('cd /rooms/team/inbox; ls -d open.md .hidden')).stdout;
      await until(async () => (await left()) === '', 'both to be gone');
    });

  it('names with newlines, dots, 255 bytes or any other bytes are accepted', async () => {
    const long = 'n'.repeat(255);
    await inside(
      [
        'cd /rooms/team/inbox',
        `echo name-long > ${long}`,
        `echo name-newline > "$(printf 'a\\nb')"`,
        `echo name-bytes > "$(printf 'a\\377b')"`,
        "echo name-dots > '..x..md'; mv ..x..md 'x..\\..md'",
      ].join('; '),
    );
    for (const text of ['name-long', 'name-newline', 'name-bytes', 'name-dots']) {
      expect(await arrived(text)).toMatchObject({ from: 'builder' });
    }
  });

  it('R10: a file stays in the inbox as long as it is open for writing', async () => {
    const open = 'cd /rooms/team/inbox; exec 3<>.k; echo kept-open >&3; mv .k k.md; echo meanwhile > m.md';
    const { stdout } = await inside(
      `${open}; while [ -e m.md ]; do :; done; ls; echo changed >&3; exec 3>&-; while [ -e k.md ]; do :; done`,
    );
    expect(stdout).toBe('k.md\n');
    expect(await arrived('kept-open')).toMatchObject({ body: 'kept-open\nchanged\n' });
  });

  it('links that replace a file while it is taken never lead out of the inbox', async () => {
    const script = [
      'cd /rooms/team/inbox',
      'i=0; while [ $i -lt 100 ]; do echo race-$i > .r; mv .r r.md; ln -s /etc/passwd .l; mv .l r.md; i=$((i+1)); done',
      'echo race-end > end.md',
    ].join('; ');
    expect((await inside(script)).stderr).toBe('');
    await arrived('race-end');
    expect((await messages()).filter(({ body: text }) => text.includes('root:'))).toEqual([]);
  });

  it(
    'many files are handled while the daemon answers, and the rest is refused',
    async () => {
      const count = all ? 1_000_000 : 2500;
      const { refused, messages: before } = await shown();
      const loop = `i=0; while [ $i -lt ${count} ]; do echo flood > /rooms/team/inbox/f$i.md; i=$((i+1)); done`;
      await carrel.ok('create', '--name', 'flooder', '--room', 'team', '--', 'sh', '-c', loop);
      let slowest = 0;
      const handled = async () => {
        const began = performance.now();
        const now = await json<RoomDetailView[]>('room', 'ls');
        slowest = Math.max(slowest, performance.now() - began);
        return now[0]!.messages! + now[0]!.refused! - before! - refused!;
      };
      await until(async () => (await handled()) >= count, 'all files to be handled', all ? 3_600_000 : 60_000);
      expect(await handled()).toBe(count);
      expect(slowest).toBeLessThan(20_000);
      await carrel.ok('room', 'post', 'team', 'after the flood');
      await carrel.ok('rm', 'flooder');
    },
    all ? 3_700_000 : 120_000,
  );

  it('a fork posts under its own name, and removing a sandbox leaves its messages and no inbox', async () => {
    await carrel.ok('create', '--name', 'origin', '--room', 'team');
    await carrel.ok('fork', 'origin', 'forked');
    await carrel.ok('start', 'forked');
    expect((await inside('echo from-the-fork > /rooms/team/inbox/x.md', 'forked')).stderr).toBe('');
    expect(await arrived('from-the-fork')).toMatchObject({ from: 'forked' });
    await inside('echo last-words > /rooms/team/inbox/.x', 'origin');
    writeFileSync(join(folder, '.carrel/inbox/origin/late.md'), 'late-words');
    await carrel.ok('rm', '--force', 'origin', 'forked');
    expect(await arrived('late-words')).toMatchObject({ from: 'origin' });
    const left = () => readdirSync(join(folder, '.carrel/inbox')).filter((name) => name.includes('~'));
    await until(async () => left().length === 0, 'the inboxes to be removed');
    expect(readdirSync(join(folder, '.carrel/inbox'))).toEqual(['builder']);
  });

  it('R9: a sandbox cannot have the name of another participant, nor a room that does not exist', async () => {
    await carrel.ok('room', 'members', 'team', '--add', 'phone');
    const taken = await carrel.run(['create', '--name', 'phone', '--room', 'team']);
    expect([taken.exitCode, taken.stderr]).toEqual([6, expect.stringContaining('phone')]);
    expect((await carrel.list()).map(({ name }) => name)).not.toContain('phone');
    const none = await carrel.run(['create', '--name', 'other', '--room', 'nowhere']);
    expect([none.exitCode, none.stderr]).toEqual([5, expect.stringContaining('no room nowhere')]);
  });

  it('a room that a sandbox has is not removed without force', async () => {
    const { exitCode, stderr } = await carrel.run(['room', 'rm', 'team']);
    expect([exitCode, stderr]).toEqual([6, expect.stringContaining('in use by builder, reader')]);
  });

  if (way === 'root')
    it('carrel-room mcp: a client of MCP posts as the sandbox, reads, and gets refusals as results', async () => {
      const client = new Client({ name: 'test', version: '1' });
      const env = { PATH: process.env.PATH!, HOME: carrel.home, CARREL_HOME: carrel.home, ...runEnv() };
      const args = [resolve('bin/carrel'), 'exec', '-i', 'builder', '--', 'carrel-room', 'mcp'];
      await client.connect(new StdioClientTransport({ command: process.execPath, args, env }));
      const call = async (name: string, input: Record<string, unknown>) => {
        const { isError, content } = await client.callTool({ name, arguments: input });
        return { isError: isError === true, text: (content as { text: string }[])[0]!.text };
      };
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toEqual(['room_list', 'room_read', 'room_post']);
      const { id } = JSON.parse((await call('room_post', { room: 'team', text: 'by tool' })).text);
      expect(await arrived('by tool')).toMatchObject({ id, from: 'builder' });
      await until(async () => (await call('room_read', { room: 'team', limit: 5 })).text.includes(id), 'the view');
      expect(JSON.parse((await call('room_list', {})).text)).toEqual([{ room: 'team', unread: 0 }]);
      expect(await call('room_read', { room: 'nosuch' })).toMatchObject({ isError: true });
      expect(await call('room_post', { room: 'team' })).toMatchObject({ isError: true });
      await client.close();
    });

  if (hasNode)
    it('carrel-room posts, replies, attaches, reads and follows inside', async () => {
      const posted = await inside('carrel-room post team hello from @builder');
      expect([posted.exitCode, posted.stderr]).toEqual([0, '']);
      const id = posted.stdout.trim();
      expect(await arrived('hello from @builder')).toMatchObject({ id, from: 'builder', mentions: ['builder'] });
      const reply = await inside(
        `echo data > /tmp/t.csv; printf -- '---\nnot: front\n---\n' | carrel-room post team - --reply ${id} --attach /tmp/t.csv`,
      );
      expect(reply.stderr).toBe('');
      const [message] = (await messages()).filter((one) => one.id === reply.stdout.trim());
      expect(message).toMatchObject({
        replyTo: id,
        attachments: [{ name: 't.csv', bytes: 5 }],
        body: '---\nnot: front\n---\n',
      });
      expect((await inside(`cat /rooms/team/attachments/${message!.id}/t.csv`, 'reader')).stdout).toBe('data\n');
      expect((await inside('carrel-room read team --unread | tail -n 5')).stdout).toContain('not: front');
      expect((await inside('carrel-room read team --unread')).stdout).toBe('');
      const member = async () => (await shown()).members.find(({ name }) => name === 'builder');
      await until(async () => (await member())?.position === message!.id, 'the read position');
      const refused = await inside('head -c 300000 /dev/zero | tr "\\0" x | carrel-room post team -');
      expect([refused.exitCode, refused.stderr]).toEqual([4, expect.stringContaining('longer than 262144 bytes')]);
      const readOnly = await inside('carrel-room post team x', 'reader');
      expect([readOnly.exitCode, readOnly.stderr]).toEqual([4, expect.stringContaining('but not post to it')]);
      const followed = inside('carrel-room follow team --json | head -n 1', 'reader');
      const stop = setInterval(() => void carrel.run(['room', 'post', 'team', 'followed']), 300);
      expect(JSON.parse((await followed).stdout)).toMatchObject({ body: 'followed\n' });
      clearInterval(stop);
      expect((await inside('carrel-room ls')).stdout).toMatch(/^team {2}\d+ unread\n$/);
    });
};
