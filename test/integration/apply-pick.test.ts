/**
 * Random edits of text files, of which random blocks are taken: the project gets what `git apply` makes of the same hunks, the rest
 * stays a change of the sandbox, and an undo gives everything back.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { takeOverShown } from '../../src/job/thread-views.ts';
import { gateKinds } from '../../src/model/change.ts';
import { blocksOf, parseSection } from '../../src/model/patch-section.ts';
import { undoApply } from '../../src/workspace/apply/undo.ts';
import { listChanges } from '../../src/workspace/change/changes.ts';
import { type OfferedFile, offer, type Pick } from '../../src/workspace/pick.ts';
import { reopen } from '../../src/workspace/take-over.ts';
import type { WorkspacePlace } from '../../src/workspace/workspace.ts';
import { randomFrom } from '../fixtures/random-edits.ts';

const cases = process.env.CARREL_TEST_ALL ? 400 : 12;
let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'carrel-pick-'));
});
afterAll(() => rmSync(root, { recursive: true }));

type Random = ReturnType<typeof randomFrom>;

class Trial {
  readonly folder: string;
  readonly project: string;
  readonly place: WorkspacePlace;
  #scratches = 0;

  constructor(name: string) {
    this.folder = join(root, name);
    this.project = join(this.folder, 'project');
    mkdirSync(join(this.folder, 'workspace', 'tree'), { recursive: true });
    mkdirSync(this.project);
    this.place = {
      kind: 'copy',
      project: this.project,
      base: join(this.folder, 'base'),
      live: false,
      marks: 'user',
      folder: join(this.folder, 'workspace'),
    };
  }

  get tree(): string {
    return join(this.place.folder, 'tree');
  }

  write(files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.project, name), text, 'latin1');
    for (const copy of [this.tree, this.place.base]) cpSync(this.project, copy, { recursive: true });
  }

  scratch(): string {
    this.#scratches += 1;
    const path = join(this.folder, `scratch-${this.#scratches}`);
    mkdirSync(path);
    return path;
  }

  async offered(): Promise<readonly OfferedFile[]> {
    return (await offer({ place: this.place, paths: [], ignored: true, scratch: this.scratch() })).files;
  }

  take(picks: readonly Pick[], journal: string) {
    return takeOverShown({
      sources: [{ sandbox: 'agent', place: this.place }],
      project: this.project,
      options: { resolution: null, allow: gateKinds },
      ignored: true,
      picks,
      pickScratch: this.scratch(),
      journal: join(this.folder, journal),
    });
  }
}

/** The chosen hunks for git: added lines of others are left out, deleted lines of others are context. */
function chosenPatch(section: Buffer, blocks: ReadonlySet<number>): string {
  const { head, hunks } = parseSection(section.toString('latin1'));
  const body = hunks.flatMap(({ lines }) => {
    const kept = lines.flatMap(({ sign, text, block }) => {
      const isLeft = block !== null && !blocks.has(block);
      if (isLeft && sign === '+') return [];
      const end = text.endsWith('\n') ? '' : '\n\\ No newline at end of file\n';
      return [`${isLeft ? ' ' : sign}${text}${end}`];
    });
    return kept.some((line) => !line.startsWith(' ')) ? ['@@ -1 +1 @@\n', ...kept] : [];
  });
  return head.replace(/^(old|new) mode .*\n/gm, '') + body.join('');
}

function randomText(random: Random, lines: number): string {
  const made = Array.from(
    { length: lines },
    () => `${['', 'a', 'b', 'c\r', '\xff\x01', '@@ -1 +1 @@', '-- x'][random(7)]}\n`,
  );
  return made.join('').slice(0, random(4) === 0 ? -1 : undefined);
}

function edited(random: Random, text: string): string {
  const lines = text.split(/(?<=\n)/);
  for (let edits = 1 + random(5); edits > 0; edits -= 1)
    lines.splice(random(lines.length + 1), random(3), ...Array.from({ length: random(3) }, () => `new ${random(9)}\n`));
  const joined = lines.join('');
  return random(5) === 0 ? joined.replace(/\n$/, '') : joined;
}

it(`takes of ${cases} random edits what git apply makes of the chosen hunks`, async () => {
  let compared = 0;
  for (let seed = 1; seed <= cases; seed += 1) {
    const random = randomFrom(seed);
    const trial = new Trial(`case-${seed}`);
    trial.write({ one: randomText(random, 5 + random(40)), two: randomText(random, 1 + random(60)) });
    for (const name of ['one', 'two'])
      writeFileSync(join(trial.tree, name), edited(random, readFileSync(join(trial.tree, name), 'latin1')), 'latin1');
    const agent = ['one', 'two'].map((name) => readFileSync(join(trial.tree, name)));
    const expected = join(trial.folder, 'expected');
    cpSync(trial.project, expected, { recursive: true });
    const picks: Pick[] = [];
    for (const { id, divisible, section } of await trial.offered()) {
      expect(divisible).toBe(true);
      const all = parseSection(section.toString('latin1')).hunks.flatMap(blocksOf);
      const blocks = all.filter(() => random(2) === 0);
      if (blocks.length === 0) continue;
      picks.push({ id, blocks });
      execFileSync('git', ['apply', '--recount', '--unidiff-zero', '-'], {
        cwd: expected,
        input: Buffer.from(chosenPatch(section, new Set(blocks)), 'latin1'),
        env: { PATH: process.env.PATH, GIT_DIR: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
    }
    if (picks.length === 0) continue;
    compared += 1;
    expect(await trial.take(picks, 'journal')).toMatchObject({ blocked: null, changed: true });
    for (const name of ['one', 'two'])
      expect(readFileSync(join(trial.project, name)), `seed ${seed}, ${name}`).toEqual(
        readFileSync(join(expected, name)),
      );
    // The rest is a change still, and both together are the agent's version.
    const rest = (await trial.offered()).map(({ id }) => ({ id }));
    if (rest.length > 0) await trial.take(rest, 'journal-2');
    expect(['one', 'two'].map((name) => readFileSync(join(trial.project, name)))).toEqual(agent);
    expect(listChanges(trial.place).changes).toEqual([]);
  }
  expect(compared).toBeGreaterThan(cases / 2);
}, 900_000);

it('takes modes, renames, additions and deletions, and an undo gives them back', async () => {
  const trial = new Trial('kinds');
  const lines = Array.from({ length: 40 }, (_, n) => `line ${n}\n`).join('');
  trial.write({ mode: lines, old: lines.replaceAll('line', 'row'), gone: 'x\n', left: lines });
  const at = (name: string) => join(trial.tree, name);
  writeFileSync(at('mode'), lines.replace('line 3\n', 'three\n').replace('line 30\n', 'thirty\n'));
  chmodSync(at('mode'), 0o755);
  cpSync(at('old'), at('new'));
  writeFileSync(at('new'), readFileSync(at('old'), 'utf8').replace('row 5\n', 'five\n').replace('row 35\n', ''));
  for (const name of ['old', 'gone']) rmSync(at(name));
  writeFileSync(at('added'), 'added\n');
  writeFileSync(at('left'), 'left\n');
  const offered = await trial.offered();
  const of = (path: string) => offered.find((file) => file.path === path)!;
  expect(of('new')).toMatchObject({ status: 'R', from: 'old', divisible: true });
  expect([of('added').divisible, of('gone').divisible]).toEqual([false, false]);
  const picks = [
    { id: of('mode').id, blocks: [1], mode: true },
    { id: of('new').id, blocks: [0] },
    { id: of('added').id },
    { id: of('gone').id },
  ];
  await trial.take(picks, 'journal');
  const read = (name: string) => readFileSync(join(trial.project, name), 'utf8');
  expect(read('mode')).toBe(lines.replace('line 30\n', 'thirty\n'));
  expect(statSync(join(trial.project, 'mode')).mode & 0o777).toBe(0o755);
  expect(read('new')).toBe(lines.replaceAll('line', 'row').replace('row 5\n', 'five\n'));
  expect([existsSync(join(trial.project, 'old')), existsSync(join(trial.project, 'gone'))]).toEqual([false, false]);
  expect([read('added'), read('left')]).toEqual(['added\n', lines]);
  expect(listChanges(trial.place).changes.map(({ path }) => path)).toEqual(['left', 'mode', 'new']);
  await undoApply(join(trial.folder, 'journal'));
  reopen('journal', [trial.place]);
  expect(execFileSync('diff', ['-r', trial.project, trial.place.base], { encoding: 'utf8' })).toBe('');
  expect((await trial.offered()).map(({ id }) => id)).toEqual(offered.map(({ id }) => id));
});

it('refuses what was not shown, and blocks of a file that is taken as a whole', async () => {
  const trial = new Trial('moved');
  trial.write({ a: 'one\n' });
  writeFileSync(join(trial.tree, 'a'), 'two\n');
  writeFileSync(join(trial.tree, 'b'), 'new\n');
  const [a, b] = await trial.offered();
  writeFileSync(join(trial.tree, 'a'), 'evil\n');
  await expect(trial.take([{ id: a!.id }], 'journal')).rejects.toMatchObject({ code: 'conflict' });
  await expect(trial.take([{ id: b!.id, blocks: [] }], 'journal')).rejects.toMatchObject({ code: 'invalid' });
  expect(readFileSync(join(trial.project, 'a'), 'utf8')).toBe('one\n');
});
