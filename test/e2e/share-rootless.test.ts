/** Shares of an ordinary user, and of other users of an installation. */
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ShareView, VerdictView } from '../../src/noun/share/api.ts';
import { Installation, type Outcome } from '../harness/installation.ts';
import { createRootlessAccount, type RootlessAccount, rootlessUid } from '../harness/rootless.ts';

describe('shares without root', () => {
  let account: RootlessAccount;
  let carrel: Installation;
  let count = 0;

  beforeAll(() => {
    account = createRootlessAccount();
    carrel = new Installation(account);
  });
  afterAll(async () => {
    await carrel.dispose();
    account.dispose();
  });
  afterEach(async () => {
    await carrel.clear();
    for (const { name } of await shares()) await carrel.ok('share', 'revoke', name);
  });

  const shares = () => carrel.json<ShareView[]>('share', 'ls');
  const folder = () => {
    count += 1;
    return carrel.folder(`folder-${count}`);
  };

  it('are read and written by sandboxes as the person, and revoked at once', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'inbox', path, '--at', 'one=/in');
    await carrel.ok('create', '--name', 'one');
    await carrel.ok('create', '--name', 'two', '--share', 'inbox');
    await carrel.ok('exec', 'one', '--', 'sh', '-c', 'echo one > /in/file');
    await carrel.ok('exec', 'two', '--', 'sh', '-c', 'echo two >> /shares/inbox/file');
    expect(readFileSync(join(path, 'file'), 'utf8')).toBe('one\ntwo\n');
    expect(statSync(join(path, 'file')).uid).toBe(rootlessUid);
    expect(await carrel.json<VerdictView[]>('share', 'verify', 'inbox')).toMatchObject([
      { consumer: 'sandbox:one', result: 'verified' },
      { consumer: 'sandbox:two', result: 'verified' },
    ]);
    expect(readdirSync(path)).toEqual(['file']);
    await carrel.ok('share', 'revoke', 'inbox', 'one');
    expect((await carrel.run(['exec', 'one', '--', 'ls', '/in/file'])).exitCode).not.toBe(0);
    const second = folder();
    await carrel.ok('share', 'add', 'second', second, '--at', 'two=/second');
    await carrel.ok('exec', 'two', '--', 'touch', '/second/file');
    expect(statSync(join(second, 'file')).uid).toBe(rootlessUid);
  });

  it('can be revoked without a change of the files that belong to the sandbox', async () => {
    await carrel.ok('share', 'add', 'inbox', folder());
    await carrel.ok('create', '--name', 'box', '--share', 'inbox');
    await carrel.ok(
      'exec',
      'box',
      '--',
      'sh',
      '-c',
      'umask 077; mkdir ~/mine; echo kept > ~/mine/note; echo kept > /.data/note',
    );
    await carrel.ok('share', 'revoke', 'inbox');
    await carrel.ok('stop', 'box');
    await carrel.ok('start', 'box');
    expect(
      await carrel.ok('exec', 'box', '--', 'sh', '-c', 'cat ~/mine/note /.data/note; ls -d /shares || echo none'),
    ).toBe('kept\nkept\nnone\n');
  });

  it('are refused to a sandbox that was created without a folder of the host', async () => {
    await carrel.ok('create', '--name', 'box');
    const { exitCode, stderr } = await carrel.run(['share', 'add', 'inbox', folder(), '--at', 'box=/in']);
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining('carrel create --share inbox')]);
    expect(await shares()).toEqual([]);
  });

  it('give containers access by a group of the person, and cannot be given to other people', async () => {
    const path = folder();
    await carrel.ok('share', 'add', 'inbox', path, '--at', 'docker:web=/app');
    const { groupId } = (await shares())[0]!;
    expect(groupId).toBeGreaterThan(400_000);
    expect(groupId).toBeLessThan(465_536);
    const refused = await carrel.run(['share', 'add', 'inbox', path, '--at', 'person:nobody']);
    expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining('setfacl')]);
    expect((await shares())[0]!.consumers).toHaveLength(1);
  });

  it('cannot be folders that the person has no permission to write', async () => {
    const path = folder();
    chownSync(path, 0, 0);
    chmodSync(path, 0o755);
    const { exitCode, stderr } = await carrel.run(['share', 'add', 'inbox', path]);
    expect([exitCode, stderr]).toEqual([4, expect.stringContaining('may not read and write it')]);
  });
});

describe('shares of another user', () => {
  const bobUid = 23_456;
  let carrel: Installation;
  let asBob: (...args: string[]) => Promise<Outcome>;
  let ofBob: string;
  let ofAnn: string;

  beforeAll(async () => {
    carrel = new Installation();
    const socket = join(carrel.folder('shared'), 'carrel.sock');
    writeFileSync(join(carrel.home, 'config.yaml'), `share: {socket: ${socket}}\n`);
    const token = (await carrel.ok('user', 'add', 'bob', '--uid', String(bobUid))).trim();
    const tokenFile = join(carrel.folder('bob'), 'token');
    writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
    asBob = (...args) => carrel.run(args, { env: { CARREL_SOCKET: socket, CARREL_TOKEN_FILE: tokenFile } });
    ofAnn = carrel.folder('of-ann');
    ofBob = join(carrel.folder('of-bob'), 'in');
    mkdirSync(ofBob, { mode: 0o700 });
    chownSync(ofBob, bobUid, bobUid);
  });
  afterAll(() => carrel.dispose());

  it('are folders of that user, with sandboxes of that user, and invisible to others', async () => {
    expect((await asBob('share', 'add', 'theirs', ofAnn)).exitCode).toBe(4);
    expect((await asBob('share', 'add', 'inbox', ofBob, '--at', 'docker:web=/app')).exitCode).toBe(4);
    expect((await asBob('share', 'add', 'inbox', ofBob)).exitCode).toBe(0);
    expect(await carrel.json('share', 'ls')).toEqual([]);
    const taken = await carrel.run(['share', 'add', 'mine', ofBob]);
    expect([taken.exitCode, taken.stderr]).toEqual([6, expect.stringContaining('of another user')]);
    for (const args of [
      ['share', 'revoke', 'inbox'],
      ['share', 'verify', 'inbox'],
      ['run', '--share', 'inbox', '--', 'true'],
    ])
      expect([args, (await carrel.run(args)).exitCode]).toEqual([args, 5]);
    const ran = await asBob('run', '--rm', '--share', 'inbox', '--', 'sh', '-c', 'echo hi > /shares/inbox/file');
    expect(ran.exitCode).toBe(0);
    expect(statSync(join(ofBob, 'file')).uid).toBe(bobUid);
    expect((await asBob('share', 'revoke', 'inbox')).exitCode).toBe(0);
  });
});
