import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { libc } from '../../../lib/sys/libc.ts';
import { Fault } from '../../../model/fault.ts';
import { FakeRoom } from '../fake.ts';
import { InboxWatch } from './inbox-watch.ts';
import { Intake } from './intake.ts';

const limits = { bodyBytes: 100, attachments: 2, attachmentBytes: 50 };
const participant = { kind: 'sandbox', name: 'builder' } as const;

let folder: string;
let inbox: string;
let room: FakeRoom;
let watch: InboxWatch;
let intake: Intake;
const errors: unknown[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-intake-'));
  inbox = join(folder, 'inbox');
  mkdirSync(inbox);
  room = new FakeRoom();
  errors.length = 0;
  open();
});

function open(inboxWatch = new InboxWatch(() => false)) {
  watch = inboxWatch;
  intake = new Intake({ room, taking: join(folder, 'taking'), limits, watch, report: (error) => errors.push(error) });
}

afterEach(async () => {
  await intake.close();
  watch.close();
  rmSync(folder, { recursive: true, force: true });
});

const added = () => intake.add({ participant, folder: inbox });
const drained = async () => {
  await intake.remove(inbox);
  await intake.drain({ participant, folder: inbox });
};
const put = (name: string, text: string | Buffer) => writeFileSync(join(inbox, name), text);
const posted = (count: number) => room.until(() => room.messages.length === count);
const refused = (count: number) => room.until(() => room.refusals.length === count);
const reasons = () => room.refusals.map(({ reason }) => reason);
const taking = () => readdirSync(join(folder, 'taking'));

test('R10: a file becomes a message when its writer closes it, and not before', async () => {
  await added();
  const fd = openSync(join(inbox, 'x.md'), 'w');
  writeSync(fd, 'half');
  put('other.md', 'whole');
  await posted(1);
  writeSync(fd, ' and half');
  closeSync(fd);
  await posted(2);
  expect(room.bodies()).toEqual(['whole', 'half and half']);
  expect(readdirSync(inbox)).toEqual([]);
});

test('R10: a file that was open when the inbox was added becomes a message when it is closed', async () => {
  const fd = openSync(join(inbox, 'x.md'), 'w');
  writeSync(fd, 'half');
  put('a.md', 'first');
  await added();
  await posted(1);
  closeSync(fd);
  await posted(2);
  expect(room.bodies()).toEqual(['first', 'half']);
});

test('R10: files whose names begin with a dot stay, and become messages when they are renamed', async () => {
  await added();
  put('.new', 'text');
  put('a.md', 'a');
  await posted(1);
  expect(readdirSync(inbox)).toEqual(['.new']);
  renameSync(join(inbox, '.new'), join(inbox, 'new.md'));
  await posted(2);
  expect(room.bodies()).toEqual(['a', 'text']);
});

test('files that lay in the inbox before it was added are taken, the oldest first', async () => {
  for (let index = 0; index < 50; index++) {
    put(`${100 - index}.md`, String(index));
    utimesSync(join(inbox, `${100 - index}.md`), index, index);
  }
  await added();
  await posted(50);
  expect(room.bodies()).toEqual(Array.from({ length: 50 }, (_, index) => String(index)));
});

test('R7: front matter sets only reply_to', async () => {
  await added();
  const head = 'id: 1\nfrom: boss\nvia: hub\nreply_to: 01JD8Q4Y000000000000000000';
  put('x.md', `---\n${head}\n---\nhi\n`);
  await posted(1);
  expect(room.messages[0]).toMatchObject({ from: 'builder', via: 'inbox', body: 'hi\n' });
  expect(room.messages[0]!.replyTo).toBe('01JD8Q4Y000000000000000000');
});

test('R11: a folder is a message with attachments once its message.md is there', async () => {
  await added();
  mkdirSync(join(inbox, 'report'));
  writeFileSync(join(inbox, 'report/table.csv'), 'a,b');
  put('a.md', 'before');
  await posted(1);
  writeFileSync(join(inbox, 'report/message.md'), 'see the table');
  await posted(2);
  expect(room.messages[1]).toMatchObject({ body: 'see the table', attachments: [{ name: 'table.csv' }] });
  expect(room.files).toEqual(['table.csv: a,b']);
});

test('R11: a folder with too many, too large, hidden or strange attachments is refused', async () => {
  const fill: Record<string, (at: string) => void> = {
    many: (at) => {
      for (const name of ['1', '2', '3']) writeFileSync(join(at, name), '');
    },
    large: (at) => writeFileSync(join(at, 'a'), 'x'.repeat(51)),
    hidden: (at) => writeFileSync(join(at, '.a'), ''),
    link: (at) => symlinkSync('/etc/passwd', join(at, 'a')),
    nested: (at) => mkdirSync(join(at, 'a')),
  };
  for (const [name, act] of Object.entries(fill)) {
    mkdirSync(join(inbox, name));
    act(join(inbox, name));
    writeFileSync(join(inbox, name, 'message.md'), 'text');
  }
  await added();
  await refused(5);
  expect(reasons().sort()).toEqual([
    'an attachment whose name is hidden or not plain text',
    'attachment a: a folder, not a regular file',
    'attachment a: a symbolic link, not a regular file',
    'attachments of more than 50 bytes',
    'more than 2 attachments',
  ]);
  await drained();
  expect([readdirSync(inbox), taking()]).toEqual([[], []]);
});

test('R12: links, pipes and files with two names are refused unread, and do not block the intake', async () => {
  await added();
  const secret = join(folder, 'secret');
  writeFileSync(secret, 'secret');
  symlinkSync(secret, join(inbox, 'symlink.md'));
  await refused(1);
  linkSync(secret, join(inbox, 'link.md'));
  await refused(2);
  libc('int mkfifo(const char *path, uint32_t mode)')(join(inbox, 'pipe.md'), 0o666);
  await refused(3);
  put('a.md', 'after');
  await posted(1);
  expect(reasons()).toEqual([
    'a symbolic link, not a regular file',
    'a file with several links',
    'a pipe, not a regular file',
  ]);
  expect(room.refusals.map(({ sample }) => sample)).toEqual([null, null, null]);
  expect(readFileSync(secret, 'utf8')).toBe('secret');
});

test('R12, R14: files that are too long, sparse, empty or not UTF-8 are refused with a sample', async () => {
  put('long.md', 'x'.repeat(101));
  put('sparse.md', '');
  truncateSync(join(inbox, 'sparse.md'), 1024 ** 4);
  put('empty.md', ' \n');
  put('binary.md', Buffer.from([0xff, 0xfe]));
  await added();
  await refused(4);
  expect(reasons().sort()).toEqual(['empty', 'longer than 100 bytes', 'longer than 100 bytes', 'not UTF-8']);
  expect(room.refusals.find(({ name }) => name === 'long.md')?.sample).toHaveLength(101);
});

test('a file with any bytes in its name is taken, and its name is shown as plain text', async () => {
  await added();
  const strange = Buffer.concat([Buffer.from(`${inbox}/`), Buffer.from([0xff, 0x0a]), Buffer.from('..md')]);
  writeFileSync(strange, Buffer.from([0xff]));
  await refused(1);
  expect(room.refusals[0]!.name).toBe('__..md');
});

test('R4: an entry that was taken before a crash is posted once, by its key', async () => {
  const keys = ['01JD8Q4Y000000000000000001-sandbox-builder', '01JD8Q4Y000000000000000002-sandbox-builder'];
  for (const key of keys) writeFileSync(join(folder, 'taking', key), key);
  writeFileSync(join(folder, 'taking', `${keys[0]}~done`), 'done');
  await room.post({ from: participant, via: 'inbox', body: 'posted already', key: keys[0]! });
  await intake.recover();
  expect(room.bodies()).toEqual(['posted already', keys[1]]);
  expect(room.senders.at(-1)).toEqual({ kind: 'sandbox', name: 'builder' });
  expect(taking()).toEqual([]);
});

test('a post that fails temporarily is retried, and one that is refused is not', async () => {
  room.failPosts = [new Fault('unavailable', 'not now'), new Fault('conflict', 'another kind has the name')];
  await added();
  put('a.md', 'a');
  await refused(1);
  expect(errors).toHaveLength(1);
  expect(reasons()).toEqual(['another kind has the name']);
});

test('R19: the id in .read becomes the read position', async () => {
  await added();
  put('.read.new', '01JD8Q4Y000000000000000000\n');
  renameSync(join(inbox, '.read.new'), join(inbox, '.read'));
  await room.until(() => room.positions.size === 1);
  expect(room.positions.get('builder')).toBe('01JD8Q4Y000000000000000000');
});

test('a sender that has kept its file open reads the id or the reason in it', async () => {
  await added();
  const outcome = async (name: string, text: string, isDone: () => boolean) => {
    put(`.${name}`, text);
    const fd = openSync(join(inbox, `.${name}`), 'r');
    renameSync(join(inbox, `.${name}`), join(inbox, name));
    await room.until(isDone);
    await drained();
    await added();
    const read = readFileSync(fd, 'utf8');
    closeSync(fd);
    return read;
  };
  expect(await outcome('a.md', 'text', () => room.messages.length === 1)).toBe(`${room.messages[0]!.id}\n`);
  expect(await outcome('b.md', 'x'.repeat(101), () => room.refusals.length === 1)).toMatch(
    /^refused: longer than 100 bytes\n/,
  );
});

test('draining an inbox handles everything in it, finished or not', async () => {
  await added();
  const fd = openSync(join(inbox, 'open.md'), 'w');
  writeSync(fd, 'unfinished');
  for (let index = 0; index < 100; index++) put(`${index}.md`, 'text');
  await drained();
  closeSync(fd);
  expect(room.messages).toHaveLength(101);
  expect(readdirSync(inbox)).toEqual([]);
});

test('an inbox on a remote filesystem is polled', async () => {
  await intake.close();
  watch.close();
  open(new InboxWatch(() => true));
  await added();
  expect(intake.watch).toBe('polling');
  put('a.md', 'a');
  await posted(1);
});

test('a full inbox does not keep another one waiting', async () => {
  for (let index = 0; index < 600; index++) put(`${index}.md`, 'text');
  const other = join(folder, 'other');
  mkdirSync(other);
  await Promise.all([added(), intake.add({ participant: { kind: 'sandbox', name: 'other' }, folder: other })]);
  writeFileSync(join(other, 'x.md'), 'urgent');
  await room.until(() => room.bodies().includes('urgent'));
  expect(room.messages.length).toBeLessThan(600);
  await posted(601);
});

test('R21: hidden files past the bound of an inbox are refused and removed, and messages are still posted', async () => {
  await added();
  put('.kept', 'small');
  for (let index = 0; index <= 1000; index += 1) put(`.f${index}`, '');
  put('x.md', 'meanwhile');
  await posted(1);
  await room.until(() => room.refusals.length >= 2);
  expect(new Set(reasons())).toEqual(new Set(['more than 1000 unfinished or hidden files']));
  await vi.waitFor(() => expect([readdirSync(inbox).length <= 1000, taking()]).toEqual([true, []]));
});

test('R21: a large file that stays open is refused with the reason', async () => {
  const fd = openSync(join(inbox, 'open.md'), 'w');
  writeSync(fd, Buffer.alloc(65 * 1024 * 1024, 1));
  await added();
  await refused(1);
  expect(room.refusals[0]).toMatchObject({ name: 'open.md', from: 'builder', sample: null });
  expect(reasons()[0]).toContain('bytes of unfinished or hidden files');
  closeSync(fd);
});
