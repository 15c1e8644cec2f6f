// @needs root
/** Another account that opens more connections to the shared socket than the daemon has descriptors. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';

const descriptors = 512;
const stranger = 54_322;

let carrel: Installation;
let socket: string;
let bob: { CARREL_SOCKET: string; CARREL_TOKEN: string };
let attacker: ChildProcess;

beforeAll(async () => {
  const limited = ['prlimit', `--nofile=${descriptors}:${descriptors}`, '--'];
  carrel = new Installation({ wrap: (argv) => [...limited, ...argv], prepareHome: () => {} });
  socket = join(carrel.folder('shared'), 'carrel.sock');
  writeFileSync(join(carrel.home, 'config.yaml'), `share: {socket: ${socket}}\n`);
  const { token } = await carrel.json<{ token: string }>('user', 'add', 'bob');
  bob = { CARREL_SOCKET: socket, CARREL_TOKEN: token };
  const account = ['--reuid', String(stranger), '--regid', String(stranger), '--clear-groups'];
  const program = [process.execPath, 'test/fixtures/idle-connections.mjs', socket, '700'];
  attacker = spawn('setpriv', [...account, ...program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [said] = (await once(attacker.stdout!, 'data')) as [Buffer];
  expect(JSON.parse(String(said))).toEqual({ opened: 700 });
});
afterAll(async () => {
  attacker.stdin!.end();
  await once(attacker, 'exit');
  await carrel.dispose();
});

it('an account that holds 700 idle connections open blocks neither the owner nor other users', async () => {
  for (let round = 0; round < 3; round += 1) {
    expect(await carrel.run(['run', '--rm', '--', 'echo', 'mine'])).toMatchObject({ exitCode: 0, stdout: 'mine\n' });
    expect(await carrel.run(['ls'], { env: bob })).toMatchObject({ exitCode: 0 });
  }
});
