/**
 * Takes random blocks of random edits of text files: the project gets what `git apply` makes of the same hunks, the
 * rest stays a change of the sandbox, and an undo restores everything.
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
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyRequest } from '../../src/noun/workspace/api.ts';
import { takeOverShown } from '../../src/noun/workspace/app/thread-views.ts';
import { undoApply } from '../../src/noun/workspace/apply/undo.ts';
import { listChanges } from '../../src/noun/workspace/change/changes.ts';
import { type GateKind, gateKinds } from '../../src/noun/workspace/model/change.ts';
import { editedHunk } from '../../src/noun/workspace/model/hunk-edit.ts';
import {
  blocksOf,
  type Hunk,
  headText,
  hunkText,
  linesText,
  parseSection,
} from '../../src/noun/workspace/model/patch-section.ts';
import { type OfferedFile, offer, type Pick } from '../../src/noun/workspace/pick.ts';
import { restoreListedChanges } from '../../src/noun/workspace/take-over.ts';
import type { WorkspacePlace } from '../../src/noun/workspace/workspace.ts';
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

  read(name: string): string {
    return readFileSync(join(this.project, name), 'latin1');
  }

  take(picks: readonly Pick[], journal: string | null, allow: readonly GateKind[] = gateKinds) {
    return takeOverShown({
      sources: [{ sandbox: 'agent', place: this.place }],
      project: this.project,
      options: { resolution: null, allow },
      ignored: true,
      picks,
      pickScratch: this.scratch(),
      journal: journal && join(this.folder, journal),
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

it(`picks of ${cases} random edits give the same files as git apply with the chosen hunks`, async () => {
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
    // The rest is still a change, and both together are the agent's version.
    const rest = (await trial.offered()).map(({ id }) => ({ id }));
    if (rest.length > 0) await trial.take(rest, 'journal-2');
    expect(['one', 'two'].map((name) => readFileSync(join(trial.project, name)))).toEqual(agent);
    expect(listChanges(trial.place).changes).toEqual([]);
  }
  expect(compared).toBeGreaterThan(cases / 2);
}, 900_000);

it('an apply of picked changes takes modes, renames, additions and deletions, and an undo reverts them', async () => {
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
  restoreListedChanges('journal', [trial.place]);
  expect(execFileSync('diff', ['-r', trial.project, trial.place.base], { encoding: 'utf8' })).toBe('');
  expect((await trial.offered()).map(({ id }) => id)).toEqual(offered.map(({ id }) => id));
});

it('a pick is refused for a file that changed after it was shown, and for blocks of a file that is taken as a whole', async () => {
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

/** Lines that the owner may make of a hunk; a lie is about a line that the file does not have. */
function randomEdit(random: Random, { lines }: Hunk, isLie: boolean): string {
  const edited = lines.flatMap(({ sign, text, block }) => {
    const added = random(5) === 0 ? [{ sign: '+' as const, text: `own \xff${random(9)}\n`, block: 0 }] : [];
    if (sign === '+' && random(3) === 0) return added;
    const other = sign === '-' ? ' ' : '-';
    const isTurned = sign !== '+' && text.endsWith('\n') && random(4) === 0;
    return [...added, { sign: isTurned ? (other as '-' | ' ') : sign, text, block }];
  });
  const old = edited.findIndex(({ sign, text }) => sign !== '+' && text.endsWith('\n'));
  if (isLie && old >= 0) edited[old] = { ...edited[old]!, text: 'a lie\n' };
  return linesText(edited);
}

/** Null: git refuses the patch. */
function appliedByGit(file: string, hunks: readonly Hunk[]): string | null {
  let moved = 0;
  const body = hunks.map((hunk) => {
    const text = headText({ ...hunk, newStart: hunk.oldStart + moved }) + linesText(hunk.lines);
    for (const { sign } of hunk.lines) moved += { '+': 1, '-': -1, ' ': 0 }[sign];
    return text;
  });
  const folder = mkdtempSync(join(root, 'git-'));
  writeFileSync(join(folder, 'f'), file, 'latin1');
  const patch = Buffer.from(`--- a/f\n+++ b/f\n${body.join('')}`, 'latin1');
  const env = { PATH: process.env.PATH, GIT_DIR: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };
  const options = { cwd: folder, input: patch, env, stdio: 'pipe' } as const;
  try {
    execFileSync('git', ['apply', '--unidiff-zero', '-'], options);
    return readFileSync(join(folder, 'f'), 'latin1');
  } catch {
    return null;
  }
}

describe('edited hunks', () => {
  it(`of ${cases} random edits are taken as git apply takes them`, async () => {
    const compared = { applied: 0, refused: 0 };
    for (let seed = 1; seed <= cases; seed += 1) {
      const random = randomFrom(seed);
      const trial = new Trial(`edit-${seed}`);
      const before = randomText(random, 20 + random(60));
      trial.write({ one: before });
      writeFileSync(join(trial.tree, 'one'), edited(random, edited(random, before)), 'latin1');
      const agent = readFileSync(join(trial.tree, 'one'), 'latin1');
      const [file] = await trial.offered();
      if (file === undefined) continue;
      const isLie = random(4) === 0;
      const { hunks } = parseSection(file.section.toString('latin1'));
      const edits = hunks.flatMap((hunk) =>
        random(2) === 0 ? [{ hunk, blocks: blocksOf(hunk), lines: randomEdit(random, hunk, isLie) }] : [],
      );
      const chosen = hunks.filter((hunk) => edits.every((edit) => edit.hunk !== hunk) && random(2) === 0);
      const pick = { id: file.id, blocks: chosen.flatMap(blocksOf), edits: edits.map(({ hunk, ...rest }) => rest) };
      const results = edits.map(({ hunk, lines }) => editedHunk(hunk, lines));
      if (results.includes(null)) {
        compared.refused += 1;
        await expect(trial.take([pick], 'journal')).rejects.toMatchObject({ code: 'invalid' });
        expect([trial.read('one'), existsSync(join(trial.folder, 'journal'))]).toEqual([before, false]);
        if (!isLie) continue;
        const lies = edits.map(({ hunk, lines }) => `${hunkText(hunk).split('\n')[0]}\n${lines}`);
        expect(appliedByGit(before, parseSection(`\n${lies.join('')}`).hunks)).toBeNull();
        continue;
      }
      const taken = [...chosen, ...(results as Hunk[])].sort((a, b) => a.oldStart - b.oldStart);
      if (taken.length === 0) continue;
      compared.applied += 1;
      const expected = appliedByGit(before, taken);
      await trial.take([pick], 'journal');
      expect(trial.read('one'), `seed ${seed}`).toBe(expected);
      // What the agent wrote at the edited lines is still a change.
      const rest = (await trial.offered()).map(({ id }) => ({ id }));
      if (rest.length > 0) await trial.take(rest, 'journal-2');
      expect(trial.read('one')).toBe(agent);
    }
    expect(compared.applied).toBeGreaterThan(cases / 4);
    expect(compared.refused).toBeGreaterThan(0);
  }, 900_000);

  const numbers = Array.from({ length: 40 }, (_, n) => `line ${n}\n`).join('');

  /** An agent that changed lines 3, 5 and 30: blocks 0, 1 and 2. */
  async function changed(name: string): Promise<{ trial: Trial; id: string }> {
    const trial = new Trial(name);
    trial.write({ a: numbers });
    const agent = numbers.replace('line 3\n', 'three\n').replace('line 5\n', 'five\n').replace('line 30\n', '30\n');
    writeFileSync(join(trial.tree, 'a'), agent);
    const [file] = await trial.offered();
    return { trial, id: file!.id };
  }

  const first = { blocks: [0], lines: ' line 2\n-line 3\n+\xc3\xbc by hand\r\n line 4\n' };

  it('merge with the project, are undone, and leave the rest a change', async () => {
    const { trial, id } = await changed('merged');
    writeFileSync(join(trial.project, 'a'), numbers.replace('line 20\n', 'owner\n'));
    const picks = [{ id, blocks: [2], edits: [first] }];
    expect(await trial.take(picks, null)).toMatchObject({ blocked: null, changed: false });
    expect(trial.read('a')).not.toContain('hand');
    await trial.take(picks, 'journal');
    const result = numbers.replace('line 3\n', '\xc3\xbc by hand\r\n').replace('line 30\n', '30\n');
    expect(trial.read('a')).toBe(result.replace('line 20\n', 'owner\n'));
    const [rest] = await trial.offered();
    expect(rest!.section.toString('latin1')).toMatch(/\n-\xc3\xbc by hand\r\n\+three\n line 4\n-line 5\n\+five\n/);
    await undoApply(join(trial.folder, 'journal'));
    restoreListedChanges('journal', [trial.place]);
    expect(trial.read('a')).toBe(numbers.replace('line 20\n', 'owner\n'));
  });

  it('are refused after the agent changed the file', async () => {
    const { trial, id } = await changed('stale');
    writeFileSync(join(trial.tree, 'a'), numbers.replace('line 3\n', 'evil\n'));
    await expect(trial.take([{ id, blocks: [], edits: [first] }], 'journal')).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(trial.read('a')).toBe(numbers);
  });

  it.each([
    ['context that is another line', [{ ...first, lines: first.lines.replace('line 4', 'lie') }]],
    ['lines that were not shown', [{ blocks: [0], lines: '-line 20\n' }]],
    ['lines of another hunk', [{ blocks: [2], lines: first.lines }]],
    ['blocks of two hunks', [{ blocks: [1, 2], lines: first.lines }]],
    ['a part of the blocks between', [{ blocks: [0, 2], lines: first.lines }]],
    ['no such block', [{ blocks: [9], lines: first.lines }]],
    ['a block that is chosen', [{ ...first, blocks: [1], lines: ' line 4\n line 5\n+x\n line 6\n' }]],
    ['one block twice', [first, first]],
    [
      'a line that another edit replaces',
      [
        { blocks: [0], lines: ' line 2\n line 3\n-line 4\n' },
        { blocks: [2], lines: ' line 29\n-line 30\n+x\n' },
        { blocks: [1], lines: '-line 4\n line 5\n line 6\n' },
      ],
    ],
  ])('with %s are refused', async (what, edits) => {
    const { trial, id } = await changed(`refused ${what}`);
    const blocks = what === 'a block that is chosen' ? [1] : [];
    await expect(trial.take([{ id, blocks, edits }], 'journal')).rejects.toMatchObject({ code: 'invalid' });
    expect([trial.read('a'), existsSync(join(trial.folder, 'journal'))]).toEqual([numbers, false]);
  });

  it('are refused for a file that is taken as a whole, and without the blocks', async () => {
    const { trial, id } = await changed('whole');
    writeFileSync(join(trial.tree, 'b'), 'new\n');
    const b = (await trial.offered()).find(({ path }) => path === 'b')!;
    const added = { blocks: [0], lines: '+x\n' };
    for (const pick of [
      { id, edits: [first] },
      { id: b.id, edits: [added] },
      { id: b.id, blocks: [], edits: [added] },
    ])
      await expect(trial.take([pick], 'journal')).rejects.toMatchObject({ code: 'invalid' });
    expect([trial.read('a'), existsSync(join(trial.project, 'b'))]).toEqual([numbers, false]);
  });

  it('are judged by the gates with the content of the edit', async () => {
    const trial = new Trial('gates');
    const old = '{\n  "name": "a",\n  "version": "1.0.0"\n}\n';
    trial.write({ 'package.json': old });
    writeFileSync(join(trial.tree, 'package.json'), old.replace('1.0.0', '1.0.1'));
    const [file] = await trial.offered();
    const lines = ' {\n   "name": "a",\n-  "version": "1.0.0"\n+  "version": "2", "scripts": {"install": "evil"}\n }\n';
    const picks = [{ id: file!.id, blocks: [], edits: [{ blocks: [0], lines }] }];
    const taken = await trial.take(picks, 'journal', []);
    expect([taken.blocked, taken.changed]).toEqual(['gated', false]);
    expect(`${Buffer.from(taken.paths)}`).toContain('"gates":["scripts"]');
    expect(trial.read('package.json')).toBe(old);
    await trial.take(picks, 'journal-2', ['scripts']);
    expect(trial.read('package.json')).toContain('evil');
  });

  it('change the mode of the file only on request', async () => {
    const { trial } = await changed('modes');
    chmodSync(join(trial.tree, 'a'), 0o755);
    const [file] = await trial.offered();
    const pick = { id: file!.id, blocks: [], edits: [first] };
    expect(await trial.take([{ ...pick, mode: true }], 'journal', [])).toMatchObject({ blocked: 'gated' });
    expect(await trial.take([{ ...pick, mode: false }], 'journal-2', [])).toMatchObject({
      blocked: null,
      changed: true,
    });
    expect(statSync(join(trial.project, 'a')).mode & 0o111).toBe(0);
  });

  it('are limited in size and shape by the schema of the request', () => {
    const asked = (edit: object) =>
      applyRequest.safeParse({ names: ['a'], pick: [{ id: '0'.repeat(64), blocks: [], edits: [edit] }] });
    const lines = (bytes: number) => Buffer.alloc(bytes, '+x\n').toString('base64');
    expect(asked({ blocks: [0], lines: lines(2 * 1024 * 1024) }).success).toBe(true);
    for (const edit of [
      { blocks: [0], lines: lines(2 * 1024 * 1024 + 3) },
      { blocks: [0], lines: '+x\n' },
      { blocks: [], lines: lines(3) },
      { blocks: [-1], lines: lines(3) },
      { lines: lines(3) },
      { blocks: [0], lines: lines(3), path: '/etc/passwd' },
    ])
      expect(asked(edit).success).toBe(false);
  });
});
