/** A plain container and sandboxes of both engines in one room, all writing and following at once. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MemberView, MessageView, RoomDetailView } from '../../src/noun/room/api.ts';
import { Dockerd, image } from '../harness/dockerd.ts';
import { Installation, until } from '../harness/installation.ts';

let dockerd: Dockerd;
let carrel: Installation;
let folder: string;

beforeAll(async () => {
  dockerd = await Dockerd.open();
  carrel = new Installation(null, dockerd);
  await carrel.ok('room', 'create', 'team');
  folder = (await carrel.json<RoomDetailView>('room', 'show', 'team')).folder;
}, 60_000);
afterAll(async () => {
  await carrel.dispose();
  await dockerd.dispose();
}, 60_000);

const messages = () => carrel.json<MessageView[]>('room', 'read', 'team', '--peek', '--limit', '1000');

/** Options for a container as docs/formats/room.md describes them. */
async function containerOptions(name: string): Promise<string[]> {
  const members = await carrel.json<MemberView[]>('room', 'members', 'team', '--add', name);
  const inbox = members.find((one) => one.name === name)!.inbox!;
  const hidden = ['--tmpfs', '/rooms/team/.carrel:ro'];
  return ['-v', `${folder}:/rooms/team:ro`, '-v', `${inbox}:/rooms/team/inbox`, ...hidden];
}

const each = 50;
const total = 4 * each;
const write = (who: string) =>
  `cd /rooms/team/inbox; i=0; while [ $i -lt ${each} ]; do echo ${who}-$i > .m; mv .m $i.md; i=$((i+1)); done`;
/** Prints each line of order.log once, from its own position, until all are there. An incomplete line is read again. */
const follow = [
  `n=0; while [ $n -lt ${total} ]`,
  'do tail -n +$((n+1)) /rooms/team/order.log > /tmp/new',
  'while read -r line; do echo "$line"; n=$((n+1)); done < /tmp/new; sleep 0.1; done',
].join('; ');

async function followApi(): Promise<string[]> {
  const ids: string[] = [];
  const gone = new AbortController();
  const input = { path: { name: 'team' }, query: { after: '00000000000000000000000000' }, signal: gone.signal };
  const stream = carrel.client.sent<MessageView>('GET /v1/rooms/{name}/follow', input);
  for await (const { id, from } of stream) if (ids.push(`${id}-${from}.md`) === total) break;
  gone.abort();
  return ids;
}

async function postAll(): Promise<void> {
  for (let n = 0; n < each; n += 1)
    await carrel.client.call('POST /v1/rooms/{name}/messages', {
      path: { name: 'team' },
      body: { body: `person-${n}` },
    });
}

it('R2: a container, sandboxes of both engines and a person see every message once, in the same order', async () => {
  await carrel.ok('create', '--name', 'embedded', '--engine', 'local', '--room', 'team');
  await carrel.ok('create', '--name', 'docked', '--engine', 'docker', '--image', image, '--room', 'team');
  const options = ['--name', 'outside', '--network', 'none', ...(await containerOptions('outside'))];
  await dockerd.docker('run', '-d', ...options, image, 'sleep', '600');
  const inside = {
    embedded: (script: string) => carrel.ok('exec', 'embedded', '--', 'sh', '-c', script),
    docked: (script: string) => carrel.ok('exec', 'docked', '--', 'sh', '-c', script),
    outside: (script: string) => dockerd.docker('exec', 'outside', 'sh', '-c', script),
  };
  const places = Object.entries(inside);
  const followers = [followApi(), ...places.map(async ([, run]) => (await run(follow)).trim().split('\n'))];
  await Promise.all([postAll(), ...places.map(([name, run]) => run(write(name)))]);
  const [order, ...others] = await Promise.all(followers);
  expect(order).toHaveLength(total);
  expect(order).toEqual([...new Set(order)].sort());
  for (const other of others) expect(other).toEqual(order);
  const found = await messages();
  for (const name of Object.keys(inside)) {
    const own = found.filter(({ from }) => from === name).map(({ body }) => body.trim());
    expect(own.sort()).toEqual(Array.from({ length: each }, (_, index) => `${name}-${index}`).sort());
  }
  expect(await inside.outside('ls -A /rooms/team/.carrel')).toBe('');
  await dockerd.docker('rm', '--force', 'outside');
}, 90_000);

it('R18: a removed participant keeps its messages and loses its inbox', async () => {
  await carrel.ok('room', 'members', 'team', '--remove', 'outside');
  await until(async () => !existsSync(join(folder, '.carrel/inbox/outside')), 'the inbox to be removed');
  expect((await messages()).filter(({ from }) => from === 'outside')).toHaveLength(each);
});
