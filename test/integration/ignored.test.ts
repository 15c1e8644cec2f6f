/** Which changes are ignored, compared with real git. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { fromText } from '../../src/model/byte-path.ts';
import { ignoredPaths } from '../../src/noun/workspace/ignored.ts';
import type { Change, EntryType } from '../../src/noun/workspace/model/change.ts';
import { put } from '../harness/working-copy.ts';

const root = mkdtempSync(join(tmpdir(), 'carrel-ignored-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function repository(files: Record<string, string>): string {
  const project = mkdtempSync(join(root, 'project-'));
  put(project, files);
  execFileSync('git', ['init', '--quiet'], { cwd: project });
  return project;
}

const track = (project: string, ...paths: string[]) =>
  execFileSync('git', ['add', '--force', '--', ...paths], {
    cwd: project,
    env: { ...process.env, GIT_LITERAL_PATHSPECS: '1' },
    stdio: 'ignore',
  });

function change(path: string, type: EntryType = 'file', afterContent: Change['afterContent'] = null): Change {
  const after = { type, mode: 0o644, sizeBytes: 0, target: null };
  return {
    path: fromText(path),
    before: null,
    after,
    beforeContent: null,
    afterContent,
    baseKnown: true,
  };
}

const ignored = async (project: string, changes: readonly Change[]) =>
  [...(await ignoredPaths(project, changes))].sort();

describe('ignored paths', () => {
  it('are those of git check-ignore, for tracked, untracked and negated paths', async () => {
    const rules = { '.gitignore': '*.log\n/out/\n!keep.log\n', 'a/.gitignore': 'x*\n!xy\n', 'b/.gitignore': '*\n' };
    const names = [
      '1.log',
      'keep.log',
      'out/f',
      'out/tracked',
      'a/x',
      'a/xy',
      'a/out/f',
      'a/1.log',
      'b/f',
      'b/c/f',
      'c/out',
      'c/tracked.log',
    ];
    const project = repository({ ...rules, ...Object.fromEntries(names.map((name) => [name, ''])) });
    track(project, ...Object.keys(rules), 'out/tracked', 'c/tracked.log', 'a/x');
    const asked = [...names, 'a', 'b', 'c', 'out', 'a/out', 'b/c'];
    const { stdout } = spawnSync('git', ['check-ignore', '-z', '--stdin'], { cwd: project, input: asked.join('\0') });
    const expected = stdout.toString().split('\0').slice(0, -1);
    const folders = ['a', 'b', 'c', 'out', 'a/out', 'b/c'];
    const changes = asked.map((path) => change(path, folders.includes(path) ? 'folder' : 'file'));
    expect(expected).toContain('out/f');
    expect(expected).not.toContain('out/tracked');
    expect(await ignored(project, changes)).toEqual(expected.sort());
  });

  it('include names that git would take for a pathspec, and such names stop no review', async () => {
    const project = repository({ '.gitignore': '*.log\n' });
    const names = [':!a.log', ':(exclude)b.log', ':(nothing)c', ':/d.log', ':e', '*', '"f.log', '-g.log'];
    const expected = names.filter((name) => name.endsWith('.log')).sort();
    expect(
      await ignored(
        project,
        names.map((name) => change(name)),
      ),
    ).toEqual(expected);
  });

  it('are found below a folder that replaces a link of the project, and below a submodule', async () => {
    const project = repository({ '.gitignore': 'modules/\n', 'elsewhere/.gitignore': '*\n' });
    symlinkSync('elsewhere', join(project, 'modules'));
    symlinkSync('elsewhere', join(project, 'src'));
    const sub = join(project, 'sub');
    mkdirSync(sub);
    execFileSync('git', ['init', '--quiet'], { cwd: sub });
    execFileSync(
      'git',
      ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '-m', 'x'],
      { cwd: sub },
    );
    track(project, 'sub', 'src');
    const changes = [
      change('modules', 'folder'),
      change('modules/a'),
      change('src', 'folder'),
      change('src/a'),
      change('sub/a'),
    ];
    expect(await ignored(project, changes)).toEqual(['modules', 'modules/a']);
  });

  it('follow rules of the agent in any encoding', async () => {
    const project = repository({});
    const tree = mkdtempSync(join(root, 'tree-'));
    writeFileSync(join(tree, '.gitignore'), 'größe/\n');
    const rules = change('.gitignore', 'file', { at: 'tree', root: tree });
    expect(await ignored(project, [rules, change('größe/x')])).toEqual([fromText('größe'), fromText('größe/x')].sort());
  });

  it('are found in a time that does not grow with the product of changed and tracked paths', async () => {
    const [small, large] = [repository({}), repository({})];
    const lines = Array.from({ length: 20_000 }, (_, n) => `100644 ${'1'.repeat(40)}\tsrc/file-${n}\n`).join('');
    execFileSync('git', ['update-index', '--index-info'], { cwd: large, input: lines });
    const changes = Array.from({ length: 5000 }, (_, n) => change(`src/file-${n}`));
    const spent = async (project: string) => {
      const from = childrenMs();
      await ignoredPaths(project, changes);
      return childrenMs() - from;
    };
    expect(await spent(large)).toBeLessThan(200 + 5 * (await spent(small)));
  });
});

/** The processor time of all children that have ended, in ticks of 10 ms. */
function childrenMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}
