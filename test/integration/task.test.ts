/** Task files on a real disk: planted entries, saves at the same time, and crashes. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Anchor } from '../../src/lib/file/anchor.ts';
import { tryLock } from '../../src/lib/sys/sys.ts';
import { placeOf, type TaskPlace } from '../../src/noun/swarm/task/task.ts';
import { Tasks } from '../../src/noun/swarm/task/tasks.ts';
import { story, taskText } from '../fixtures/task-file.ts';
import { isRealRoot } from '../harness/machine.ts';

const name = '2026-01-31-login-tasks.json';
const text = taskText([story(1), story(2, { dependsOn: ['US-001'] })]);
const tasks = new Tasks(200);
let project: string;
let folder: string;
let path: string;
let place: TaskPlace;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), 'carrel-task-'));
  folder = join(project, '.carrel/tasks');
  mkdirSync(folder, { recursive: true });
  path = join(folder, name);
  writeFileSync(path, text);
  place = placeOf(path);
});
afterEach(() => rmSync(project, { recursive: true }));

const begin = () => [{ id: 'US-001', status: 'in_progress' }] as const;
const begun = text.replace('"pending"', '"in_progress"');

function litter(): string[] {
  return readdirSync(folder).filter((one) => one.startsWith('.'));
}

describe('the task files that are found', () => {
  test('are the files of both folders whose names match', () => {
    mkdirSync(join(project, '.aimi/tasks'), { recursive: true });
    writeFileSync(join(project, '.aimi/tasks', name), '');
    for (const other of ['tasks.json', '2026-1-1-x-tasks.json', `${name}~`, 'notes.md'])
      writeFileSync(join(folder, other), '');
    expect(tasks.find(project)).toEqual([place, { ...place, folder: '.aimi/tasks' }]);
  });

  test('are none if there is no folder', () => {
    rmSync(join(project, '.carrel'), { recursive: true });
    expect(tasks.find(project)).toEqual([]);
    expect(() => tasks.read(place)).toThrow('there is no task file .carrel/tasks/2026-01-31-login-tasks.json');
  });

  test.each([
    '/p/tasks/2026-01-31-a-tasks.json',
    '/p/.carrel/tasks/x.json',
    '/p/.carrel/tasks/2026-01-31-../../a-tasks.json',
  ])('are never at %s', (odd) => {
    expect(() => placeOf(odd)).toThrow(/is not where task files are|is not the name of a task file/);
  });
});

describe('a change', () => {
  test('is written to the file, keeps owner and mode, and leaves no other file', async () => {
    chmodSync(path, 0o640);
    if (isRealRoot) chownSync(path, 1234, 4321);
    const changed = await tasks.change(place, begin);
    expect(changed.file.userStories[0]!.status).toBe('in_progress');
    expect(readFileSync(path, 'utf8')).toBe(begun);
    const { mode, uid } = statSync(path);
    expect([mode & 0o777, isRealRoot ? uid : 1234]).toEqual([0o640, 1234]);
    expect(readdirSync(folder)).toEqual([name]);
  });

  test('without changes writes nothing', async () => {
    const before = statSync(path).ino;
    await tasks.change(place, () => []);
    expect(statSync(path).ino).toBe(before);
  });

  test('is not made to an invalid file', async () => {
    writeFileSync(path, text.replace('"US-002"', '"US-001"'));
    await expect(tasks.change(place, begin)).rejects.toThrow(`.carrel/tasks/${name}:`);
    writeFileSync(path, Buffer.from([0x7b, 0x0a, 0xff]));
    await expect(tasks.change(place, begin)).rejects.toThrow(`${name}:2: not UTF-8`);
    writeFileSync(path, Buffer.alloc(5 * 1024 ** 2, ' '));
    await expect(tasks.change(place, begin)).rejects.toThrow('larger than');
    expect(litter()).toEqual([]);
  });

  test.each<[string, (edited: string) => void]>([
    ['in place', (edited) => writeFileSync(path, edited)],
    [
      'as editors do',
      (edited) => {
        writeFileSync(`${path}~`, edited);
        renameSync(`${path}~`, path);
      },
    ],
  ])('made while another program saves %s loses neither', async (_, save) => {
    let calls = 0;
    await tasks.change(place, (task) => {
      if (calls++ === 0) save(task.text.replace('Story 2', 'Edited'));
      return begin();
    });
    expect(calls).toBe(2);
    expect(readFileSync(path, 'utf8')).toBe(begun.replace('Story 2', 'Edited'));
    expect(litter()).toEqual([]);
  });

  test('fails for a file that is saved all the time, and for one that is removed', async () => {
    let saves = 0;
    const save = () => {
      writeFileSync(path, text.replace('Story 2', `Edit ${saves++}`));
      return begin();
    };
    await expect(tasks.change(place, save)).rejects.toThrow('changed by another program all the time');
    expect(readFileSync(path, 'utf8')).toBe(text.replace('Story 2', `Edit ${saves - 1}`));
    const remove = () => {
      rmSync(path);
      return begin();
    };
    await expect(tasks.change(place, remove)).rejects.toThrow('there is no task file');
    expect(readdirSync(folder)).toEqual([]);
  });

  test('waits for the lock of another installation, with a time-out', async () => {
    const other = Anchor.open(folder);
    try {
      expect(tryLock(other.fd)).toBe(true);
      await expect(tasks.change(place, begin)).rejects.toMatchObject({ code: 'unavailable' });
    } finally {
      other.close();
    }
    await tasks.change(place, begin);
  });

  test('by many processes at once loses none', async () => {
    const stories = Array.from({ length: 4 }, (_, n) => story(n + 1));
    writeFileSync(path, taskText(stories));
    const children = stories.map(({ id }) => once(changing(id, 'failed', 10), 'exit'));
    expect((await Promise.all(children)).map(([code]) => code)).toEqual([0, 0, 0, 0]);
    const { file } = tasks.read(place);
    expect(file.userStories.map(({ status, notes }) => [status, notes?.endsWith(' 9')])).toEqual(
      stories.map(() => ['failed', true]),
    );
    expect(litter()).toEqual([]);
  });
});

function changing(id: string, status: string, times: number) {
  const argv = ['test/fixtures/task-once.mjs', project, name, id, status, String(times)];
  return spawn(process.execPath, argv, { stdio: 'inherit' });
}

describe('nothing is read or written through', () => {
  const outside = () => {
    const target = join(project, 'outside.json');
    writeFileSync(target, text);
    return target;
  };

  test('a link in the place of the file', async () => {
    const target = outside();
    rmSync(path);
    symlinkSync(target, path);
    expect(() => tasks.read(place)).toThrow('is a link');
    await expect(tasks.change(place, begin)).rejects.toMatchObject({ code: 'denied' });
    expect(readFileSync(target, 'utf8')).toBe(text);
  });

  test.each(['.carrel', '.carrel/tasks'])('a link in the place of %s', async (link) => {
    renameSync(join(project, link), join(project, 'moved'));
    symlinkSync(join(project, 'moved'), join(project, link));
    expect(() => tasks.find(project)).toThrow('is a link');
    await expect(tasks.change(place, begin)).rejects.toMatchObject({ code: 'denied' });
  });

  test('a link that takes the place of the file in the middle of a change', async () => {
    const target = outside();
    const swap = () => {
      rmSync(path);
      symlinkSync(target, path);
      return begin();
    };
    await expect(tasks.change(place, swap)).rejects.toThrow('is a link');
    expect(readFileSync(target, 'utf8')).toBe(text);
    expect(litter()).toEqual([]);
  });

  test('a hard link to a file elsewhere', async () => {
    const target = outside();
    rmSync(path);
    linkSync(target, path);
    await tasks.change(place, begin);
    expect([readFileSync(path, 'utf8'), readFileSync(target, 'utf8')]).toEqual([begun, text]);
  });

  test('a pipe, a folder, or a file of another account', () => {
    expect(() => tasks.read(place, statSync(path).uid + 1)).toThrow('belongs to another account');
    rmSync(path);
    mkdirSync(path);
    expect(() => tasks.read(place)).toThrow('is not an ordinary file');
    rmSync(path, { recursive: true });
    expect(spawnSync('mkfifo', [path]).status).toBe(0);
    expect(() => tasks.read(place)).toThrow('is not an ordinary file');
  });
});

describe('a process that is killed', () => {
  test.each([
    ['task:begun', text, 1],
    ['task:written', text, 1],
    ['task:staged', text, 1],
    ['task:exchanged', begun, 1],
    ['task:checked', begun, 1],
  ])('at %s leaves the file complete, and the next change cleans up', async (point, expected, left) => {
    const script = 'test/fixtures/task-once.mjs';
    const env = { ...process.env, CARREL_CRASH_AT: point };
    const { signal } = spawnSync(process.execPath, [script, project, name, 'US-001', 'in_progress'], { env });
    expect(signal).toBe('SIGKILL');
    const withoutNotes = readFileSync(path, 'utf8').replace(/,\n {6}"notes": "[^"]*"/, '');
    expect(withoutNotes).toBe(expected);
    expect(litter()).toHaveLength(left);
    await tasks.change(place, () => [{ id: 'US-002', status: 'skipped' }]);
    expect(litter()).toEqual([]);
  });

  test('between the exchange and the check loses no edit of another program', async () => {
    const edited = text.replace('Story 2', 'Edited');
    const staged = `.carrel-task-${'0'.repeat(16)}-${'1'.repeat(16)}-00000000`;
    writeFileSync(join(folder, staged), edited);
    await tasks.change(place, begin);
    expect(readFileSync(join(folder, staged), 'utf8')).toBe(edited);
  });
});
