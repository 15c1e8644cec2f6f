/** An owner saves files during an apply: changes that merge are taken, and nothing that was saved is lost. */
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FolderEntry } from '../../src/lib/sys/sys.ts';
import { detachMount, mount } from '../../src/lib/sys/sys-mount.ts';
import { readJournal } from '../../src/noun/workspace/apply/journal.ts';
import { recover } from '../../src/noun/workspace/apply/recover.ts';
import { undoApply } from '../../src/noun/workspace/apply/undo.ts';
import { keepBases } from '../../src/noun/workspace/change/base/base.ts';
import { listChanges } from '../../src/noun/workspace/change/changes.ts';
import { listSources, type TakenOver, takeOver } from '../../src/noun/workspace/take-over.ts';
import type { WorkspacePlace } from '../../src/noun/workspace/workspace.ts';
import { waitForTicks } from '../conformance/workspace/live.ts';
import { isRealRoot } from '../harness/machine.ts';

/** Called before each exchange that puts the agent's version of that name into the project. */
const moment = vi.hoisted(() => ({ name: '', act: (): unknown => null }));
vi.mock('../../src/lib/sys/sys.ts', async (original) => {
  const real = await original<typeof import('../../src/lib/sys/sys.ts')>();
  const renameExchange = (one: FolderEntry, other: FolderEntry) => {
    const isMeant = [one.name, other.name].some((name) => Buffer.from(name).toString() === moment.name);
    if (isMeant && !isAgents(moment.name)) moment.act();
    real.renameExchange(one, other);
  };
  return { ...real, renameExchange };
});

const marks = isRealRoot ? 'trusted' : 'user';
const middle = 'same\n'.repeat(6);
let root: string;
let place: WorkspacePlace;
const project = (path: string) => join(place.project, path);
const inside = (path: string) => join(root, 'inside', path);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'carrel-moving-'));
  mount('carrel-test', root, 'tmpfs', 0, 'size=64m,mode=755');
  for (const name of ['project', 'upper', 'work', 'inside']) mkdirSync(join(root, name));
  place = {
    kind: 'overlay',
    project: join(root, 'project'),
    base: join(root, 'project'),
    live: true,
    marks,
    folder: root,
  };
  for (const name of ['a', 'f', 'z']) writeFileSync(project(name), `first\n${middle}last\n`);
  const own = marks === 'user' ? 'userxattr' : 'index=on,metacopy=off,redirect_dir=off';
  mount(
    'carrel-test',
    join(root, 'inside'),
    'overlay',
    0,
    `lowerdir=${root}/project,upperdir=${root}/upper,workdir=${root}/work,${own}`,
  );
  waitForTicks(join(root, 'clock'));
  keepBases(place);
  for (const name of ['a', 'f', 'z']) writeFileSync(inside(name), `agent\n${middle}last\n`);
  keepBases(place);
});
afterEach(() => {
  Object.assign(moment, { name: '', act: () => null });
  detachMount(join(root, 'inside'));
  detachMount(root);
  rmSync(root, { recursive: true });
});

function apply(expected?: string): TakenOver {
  return takeOver({ ...order(), journal: join(root, 'journal'), expect: expected });
}
const shownDigest = () => takeOver({ ...order(), journal: null }).digest!;
function order() {
  return {
    ...{ sources: [{ sandbox: 'ada', place }], project: place.project },
    options: { resolution: null, allow: [] },
  };
}
function isAgents(name: string): boolean {
  return readFileSync(project(name), 'utf8').startsWith('agent');
}
const all = () => ['a', 'f', 'z'].map((name) => readFileSync(project(name), 'utf8'));
const isClean = () => readdirSync(place.project).join() === 'a,f,z';

it('the digest of a plan differs after a change of content of the same length', () => {
  const shown = shownDigest();
  expect(shownDigest()).toBe(shown);
  writeFileSync(inside('f'), `agent\n${middle}tsal\n`);
  expect(shownDigest()).not.toBe(shown);
  expect(() => apply(shown)).toThrow(/^the changes are not those that were shown/);
});

it('a large file that the owner changed after the list was made, to the same length, is not overwritten', () => {
  const large = (letter: string) => letter.repeat(5 * 1024 ** 2);
  for (const name of ['large', 'still']) writeFileSync(project(name), large('o'));
  waitForTicks(join(root, 'clock'));
  keepBases(place);
  for (const name of ['large', 'still']) writeFileSync(inside(name), large('a'));
  const listed = listSources({ ...order(), journal: join(root, 'journal') });
  writeFileSync(project('large'), large('n'));
  linkSync(project('still'), join(root, 'another-name'));
  const { paths, changed } = takeOver({ ...order(), listed, journal: join(root, 'journal') });
  expect(paths.filter(({ outcome }) => outcome === 'conflict').map(({ path }) => path)).toEqual(['large']);
  expect([changed, readFileSync(project('large'), 'utf8') === large('n')]).toEqual([false, true]);
});

it('an apply adds the taken versions to the base log, and later changes are decided against these', () => {
  const listed = listSources({ ...order(), journal: join(root, 'journal') });
  const log = readFileSync(join(root, 'base.log'));
  expect(listed[0]!.logBytes).toBe(log.length);
  expect(takeOver({ ...order(), listed, journal: join(root, 'journal') }).changed).toBe(true);
  expect(readFileSync(join(root, 'base.log')).subarray(0, log.length).equals(log)).toBe(true);
  expect(listChanges(place).changes).toEqual([]);
  writeFileSync(inside('f'), `agent\n${middle}more\n`);
  appendFileSync(project('f'), 'owner\n');
  expect(takeOver({ ...order(), journal: join(root, 'second') }).paths).toMatchObject([{ outcome: 'conflict' }]);
  expect(listChanges(place).changes).toMatchObject([
    { path: 'f', before: { sizeBytes: `agent\n${middle}last\n`.length } },
  ]);
});

it('an undo moves the kept entries of the journal into the given folder', () => {
  const before = all();
  expect(apply().changed).toBe(true);
  mkdirSync(join(root, 'trash'));
  undoApply(join(root, 'journal'), join(root, 'trash'));
  expect(all()).toEqual(before);
  expect([readdirSync(join(root, 'trash')), readdirSync(join(root, 'journal'))]).toEqual([
    ['old', 'undo'],
    ['journal.json'],
  ]);
  expect(recover(join(root, 'journal'))).toEqual({ outcome: 'undone', left: [] });
});

describe('an owner who saves between the plan and the exchange of files', () => {
  it.each<[string, (path: string, text: string) => void]>([
    ['in place', (path, text) => appendFileSync(path, text)],
    [
      'by rename',
      (path, text) => {
        writeFileSync(join(root, 'new'), readFileSync(path, 'utf8') + text, { mode: 0o644 });
        renameSync(join(root, 'new'), path);
      },
    ],
  ])('%s, several times, gets a merge, and an undo restores everything', (_, save) => {
    let saves = 0;
    const act = () => {
      if (saves < 3) save(project('f'), `owner ${saves}\n`);
      saves += 1;
    };
    Object.assign(moment, { name: 'f', act });
    expect(apply().changed).toBe(true);
    const merged = `agent\n${middle}last\n`;
    expect(all()).toEqual([merged, `${merged}owner 0\nowner 1\nowner 2\n`, merged]);
    expect(isClean()).toBe(true);
    expect(listChanges(place).changes).toEqual([]);
    undoApply(join(root, 'journal'));
    const first = `first\n${middle}last\n`;
    expect(all()).toEqual([first, `${first}owner 0\nowner 1\nowner 2\n`, first]);
  });

  it('gets no merge if the apply expects the digest that was shown', () => {
    const shown = shownDigest();
    let saves = 0;
    const act = () => {
      if (saves === 0) appendFileSync(project('f'), 'owner\n');
      saves += 1;
    };
    Object.assign(moment, { name: 'f', act });
    expect(() => apply(shown)).toThrow(/^the changes are not those that were shown/);
    const first = `first\n${middle}last\n`;
    expect(all()).toEqual([first, `${first}owner\n`, first]);
    expect(isClean()).toBe(true);
    expect(apply(shownDigest()).changed).toBe(true);
  });

  it('and changes the same lines in the end gets a refusal, and everything stays as the owner left it', () => {
    Object.assign(moment, { name: 'f', act: () => writeFileSync(project('f'), `owner\n${middle}last\n`) });
    expect(apply()).toMatchObject({ blocked: true, changed: false });
    const first = `first\n${middle}last\n`;
    expect(all()).toEqual([first, `owner\n${middle}last\n`, first]);
    expect(isClean()).toBe(true);
  });

  it('and deletes the file gets a conflict', () => {
    let deleted = false;
    const act = () => {
      if (!deleted) rmSync(project('f'));
      deleted = true;
    };
    Object.assign(moment, { name: 'f', act });
    expect(apply().paths).toMatchObject([
      { path: 'a', outcome: 'take' },
      { path: 'f', outcome: 'conflict', conflict: { reason: 'the agent changed it, the project deleted it' } },
      { path: 'z', outcome: 'take' },
    ]);
  });

  it.each(['making-again', 'made-again'])(
    'gets everything rolled back after a crash (at %s), with what was saved',
    (point) => {
      const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
        throw new Error('killed');
      });
      vi.stubEnv('CARREL_CRASH_AT', `apply:${point}`);
      let saved = false;
      const act = () => {
        if (!saved) appendFileSync(project('f'), 'owner\n');
        saved = true;
      };
      Object.assign(moment, { name: 'f', act });
      try {
        expect(apply).toThrow('killed');
      } finally {
        vi.unstubAllEnvs();
        kill.mockRestore();
      }
      const first = `first\n${middle}last\n`;
      expect(all()).toEqual([first, `${first}owner\n`, first]);
      expect(recover(join(root, 'journal')).outcome).toBe('nothing');
    },
  );
});

it('an owner who saves every few milliseconds does not keep the apply from finishing, and loses no line', async () => {
  const owner = new Worker(saver, { eval: true, workerData: project('f') });
  try {
    await new Promise((resolve) => owner.once('message', resolve));
    expect(apply().changed).toBe(true);
  } finally {
    owner.postMessage('stop');
  }
  const lines = await new Promise<number>((resolve) => owner.once('message', resolve));
  const text = readFileSync(project('f'), 'utf8');
  expect(text.startsWith(`agent\n${middle}last\n`)).toBe(true);
  expect(text.split('\n').filter((line) => line.startsWith('owner'))).toHaveLength(lines);
  expect(readJournal(join(root, 'journal')).state).toBe('done');
});

/** Appends a line every 3 ms until it is stopped. */
const saver = `
const { parentPort, workerData } = require('node:worker_threads');
const { appendFileSync } = require('node:fs');
let lines = 0;
const timer = setInterval(() => {
  appendFileSync(workerData, 'owner ' + lines + '\\n');
  lines += 1;
  if (lines === 3) parentPort.postMessage('begun');
}, 3);
parentPort.once('message', () => {
  clearInterval(timer);
  parentPort.postMessage(lines);
});
`;
