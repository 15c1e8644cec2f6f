/**
 * The daemon is killed between every two steps of a post, of the intake of files, and of a move to the archive; the
 * next daemon completes the step.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { MessageView, RoomDetailView } from '../../src/noun/room/api.ts';
import { Installation, isRunning, until } from '../harness/installation.ts';

let carrel: Installation;
beforeAll(async () => {
  carrel = new Installation();
  await carrel.list();
});
afterAll(() => carrel.dispose());

const file = { name: 'a.txt', contentBase64: Buffer.from('content').toString('base64') };
const post = (name: string, text: string) =>
  carrel.client.call('POST /v1/rooms/{name}/messages', {
    path: { name },
    body: { body: text, key: text, attachments: [file] },
  });
const read = (name: string, ...options: string[]) => carrel.json<MessageView[]>('room', 'read', name, ...options);
const bodies = (messages: readonly MessageView[]) => messages.map(({ body }) => body);
const show = (name: string) => carrel.json<RoomDetailView>('room', 'show', name, '--repair');

it.each(['room.attached', 'room.committed', 'room.file-written', 'room.order-written'])(
  'R3, R4: a post during which the daemon dies at %s exists once after a retry',
  async (point) => {
    const name = point.replace('.', '-');
    await carrel.ok('room', 'create', name);
    await post(name, 'before');
    const pid = await carrel.dieAt(point);
    // The daemon may answer before it dies: it writes files afterwards.
    await post(name, 'during').catch(() => {});
    await until(() => !isRunning(pid), `the daemon to die at ${point}`);
    await carrel.list();
    const { id } = await post(name, 'during');
    await post(name, 'after');
    expect(bodies(await read(name))).toEqual(['before', 'during', 'after']);
    const { folder } = await show(name);
    const ids = (await read(name)).map((message) => message.id);
    expect(ids[1]).toBe(id);
    expect(readdirSync(join(folder, 'attachments')).sort()).toEqual(ids);
    expect(readFileSync(join(folder, 'attachments', id, 'a.txt'), 'utf8')).toBe('content');
    const order = readFileSync(join(folder, 'order.log'), 'utf8').split('\n').slice(0, -1);
    expect(order.map((line) => line.slice(0, 26))).toEqual(ids);
    expect(readdirSync(join(folder, 'processed')).sort()).toEqual(order);
  },
);

it.each(['inbox-taken', 'inbox-synced', 'inbox-read', 'inbox-delivered', 'inbox-done'])(
  'R4: files in an inbox are messages or refused once when the daemon dies at %s',
  async (point) => {
    await carrel.ok('room', 'create', point);
    const { folder } = await show(point);
    const pid = await carrel.dieAt(point);
    const texts = ['a', 'b', 'c'];
    for (const text of texts) writeFileSync(join(folder, 'inbox', `${text}.md`), text);
    writeFileSync(join(folder, 'inbox', 'bad.md'), Buffer.from([0xff]));
    await until(() => !isRunning(pid), `the daemon to die at ${point}`);
    await until(async () => (await show(point)).messages === texts.length, 'the messages');
    await until(async () => (await show(point)).refused === 1, 'the refusal');
    await until(() => readdirSync(join(folder, '.carrel/taking')).length === 0, 'the taken files to be removed');
    expect(bodies(await read(point)).sort()).toEqual(texts);
    expect(readdirSync(join(folder, 'dead'))).toHaveLength(2);
    expect(readdirSync(join(folder, 'inbox'))).toEqual([]);
  },
);

it.each(['room.archiving', 'room.archived', 'room.archive-removed'])(
  'R20: a move to the archive during which the daemon dies at %s has each message once',
  async (point) => {
    const name = point.replace('.', '-');
    await carrel.ok('room', 'create', name, '--keep-messages', '2');
    for (const text of ['a', 'b', 'c', 'd', 'e']) await post(name, text);
    const { folder } = await show(name);
    await carrel.dieAt(point);
    await carrel.killDaemon();
    // The daemon dies in the move that it makes after its start; the next daemon repeats the move.
    await carrel.list().catch(() => {});
    await until(() => existsSync(join(folder, 'archive')) && crashed(), 'the daemon to die in the move');
    await carrel.list();
    await until(async () => (await show(name)).messages === 2, 'the move to be made');
    expect(bodies(await read(name))).toEqual(['d', 'e']);
    expect(bodies(await read(name, '--archived'))).toEqual(['a', 'b', 'c']);
    expect(bodies(await read(name, '--search', 'b'))).toEqual(['b']);
    expect(await show(name)).toMatchObject({ messages: 2, archived: 3, repaired: 0 });
    expect(readdirSync(join(folder, 'processed'))).toHaveLength(2);
  },
);

/** The daemon removes the file with the crash point when it dies there. */
function crashed(): boolean {
  return !existsSync(join(carrel.home, '../crash/at'));
}
