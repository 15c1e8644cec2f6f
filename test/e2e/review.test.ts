/** What `diff` and `apply` show, take and leave out: ignored files, pathspecs, renames. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DiskView } from '../../src/noun/installation/api/disk.ts';
import type { SandboxView } from '../../src/noun/sandbox/api.ts';
import type { ApplyView, ChangesView } from '../../src/noun/workspace/api.ts';
import { Installation, until } from '../harness/installation.ts';
import { Project } from '../harness/project.ts';
import { carrelOn } from '../harness/terminal.ts';

let carrel: Installation;
let project: Project;

beforeAll(() => {
  carrel = new Installation();
});
afterAll(() => carrel.dispose());

let count = 0;
beforeEach(() => {
  count += 1;
  project = new Project(carrel.folder(`project-${count}`), {
    '.gitignore': 'node_modules/\n*.log\n',
    'kept.log': 'tracked\n',
    'src/old.ts': 'one\ntwo\nthree\n',
    'docs/a.md': 'a\n',
  });
  git('init', '-q');
  git('add', '-f', '.');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'first');
});

const git = (...args: string[]) => execFileSync('git', ['-C', project.path, ...args], { encoding: 'utf8' });

async function agent(script: string): Promise<string> {
  const name = `agent-${count}`;
  await carrel.ok('run', '--name', name, project.path, '--', 'sh', '-ec', script);
  return name;
}
const changes = (...args: string[]) => carrel.json<ChangesView>('diff', ...args);

const install =
  'mkdir -p node_modules/x/y; echo 1 > node_modules/x/a.js; echo 2 > node_modules/x/y/b.js; echo z > z.log; ';

describe('what git ignores', () => {
  it('is one line of a diff, and neither shown nor applied without --ignored', async () => {
    const name = await agent(`${install} echo new > src/new.ts; echo more >> kept.log`);
    const diff = await carrel.ok('diff', name);
    expect(diff).toContain('3 ignored files in node_modules/, z.log, not shown without --ignored\n');
    expect(diff).not.toContain('a.js');
    expect(diff).toContain('+more');
    expect(await carrel.ok('diff', '--stat', name)).toMatch(
      / 3 ignored files in node_modules\/, z\.log left out; --ignored/,
    );
    const view = await changes(name);
    expect(view.changes.map(({ path }) => path)).toEqual(['kept.log', 'src/new.ts']);
    expect(view.ignored).toEqual({ files: 3, more: false, places: ['node_modules/', 'z.log'] });
    expect((await changes('--ignored', name)).changes.map(({ path }) => path)).toContain('node_modules/x/a.js');
    const applied = await carrel.ok('apply', name);
    expect(applied).toContain('3 ignored files in node_modules/, z.log left out; --ignored includes them\n');
    expect(project.names()).toEqual(['.git', '.gitignore', 'docs', 'kept.log', 'src']);
    expect(project.read('kept.log')).toBe('tracked\nmore\n');
    await carrel.ok('apply', '--ignored', name);
    expect(project.read('node_modules/x/y/b.js')).toBe('2\n');
  });

  it('follows a .gitignore of the agent, which cannot hide what is applied', async () => {
    const name = await agent(
      'mkdir -p sub/out sub/in; echo out > sub/.gitignore; echo 1 > sub/out/x; echo 1 > sub/in/x; echo src/ >> .gitignore; echo evil > src/evil.ts; echo x >> src/old.ts',
    );
    const view = await changes(name);
    const shown = view.changes.filter(({ newType }) => newType === 'file').map(({ path }) => path);
    // Git never ignores a tracked file.
    expect(shown).toEqual(['.gitignore', 'src/old.ts', 'sub/.gitignore', 'sub/in/x']);
    expect(view.ignored.places.sort()).toEqual(['src/evil.ts', 'sub/out/']);
    const { paths } = await carrel.json<ApplyView>('apply', '--allow', 'all', name);
    expect(paths.filter(({ path }) => path.includes('evil'))).toEqual([]);
    expect(project.names()).not.toContain('src/evil.ts');
  });

  it('is still gated with --ignored, and refused by name without it', async () => {
    const name = await agent(
      'mkdir -p node_modules/.bin; echo x > node_modules/.bin/tool; chmod +x node_modules/.bin/tool',
    );
    const refused = await carrel.run(['apply', name, 'node_modules']);
    expect(refused).toMatchObject({
      exitCode: 5,
      stderr: expect.stringContaining('git ignores what changed at node_modules'),
    });
    const gated = await carrel.run(['apply', '--ignored', name]);
    expect([gated.exitCode, gated.stdout]).toEqual([4, expect.stringContaining('[executable]')]);
    expect(project.names()).not.toContain('node_modules');
    // rm needs --force as long as ignored changes exist.
    expect((await carrel.run(['rm', name])).exitCode).toBe(6);
  });
});

describe('paths', () => {
  it('have the wildcards and magic words of git, and start at the current folder', async () => {
    const name = await agent(
      'for f in a.ts docs/b.md src/a.ts src/deep/b.ts src/c.js; do mkdir -p $(dirname $f); echo 1 > $f; done',
    );
    const files = async (cwd: string, ...specs: string[]) => {
      const outcome = await carrel.run(['--json', 'diff', name, ...specs], { cwd });
      const view = JSON.parse(outcome.stdout) as ChangesView;
      return view.changes.filter(({ newType }) => newType === 'file').map(({ path }) => path);
    };
    const { path } = project;
    expect(await files(path, '*.ts')).toEqual(['a.ts', 'src/a.ts', 'src/deep/b.ts']);
    expect(await files(path, ':(glob)src/*.ts')).toEqual(['src/a.ts']);
    expect(await files(path, ':!src', ':!*.md')).toEqual(['a.ts']);
    expect(await files(`${path}/src`, '*.ts', ':!deep')).toEqual(['src/a.ts']);
    expect(await files(`${path}/src`, ':/*.md')).toEqual(['docs/b.md']);
    const none = await carrel.run(['diff', name, '*.go'], { cwd: path });
    expect(none).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('nothing changed at *.go') });
    await carrel.run(['apply', name, 'src/*.ts', ':!src/deep'], { cwd: path });
    expect(execFileSync('ls', [`${path}/src`], { encoding: 'utf8' })).toBe('a.ts\nold.ts\n');
    await carrel.run(['discard', '--yes', name, '*.js'], { cwd: path });
    expect(await files(path)).toEqual(['a.ts', 'docs/b.md', 'src/deep/b.ts']);
  });

  it('a renamed file is shown as renamed', async () => {
    const name = await agent('mv src/old.ts src/new.ts');
    expect(await carrel.ok('diff', name)).toContain('rename from src/old.ts\nrename to src/new.ts\n');
    expect(await carrel.ok('diff', '--name-status', name)).toBe('R\tsrc/old.ts\tsrc/new.ts\n');
  });
});

describe('two states', () => {
  it('of sandboxes and snapshots are compared', async () => {
    const one = await agent('echo mine > src/one.ts; echo four >> src/old.ts; rm docs/a.md; chmod 755 kept.log');
    const two = `other-${count}`;
    const script =
      'echo mine > src/one.ts; echo FOUR >> src/old.ts; mv docs guide; mkdir node_modules; echo > node_modules/x';
    await carrel.ok('run', '--name', two, project.path, '--', 'sh', '-ec', script);
    const differing = async (...args: string[]) =>
      (await changes(...args)).changes.filter(({ oldType, newType }) => (newType ?? oldType) === 'file');
    const statuses = (await differing(one, two)).map(({ status, path }) => `${status} ${path}`);
    expect(statuses).toEqual(['A guide/a.md', 'M kept.log', 'M src/old.ts']);
    expect(await carrel.ok('diff', one, two, '--', 'src')).toMatch(/\n-four\n\+FOUR\n$/);
    expect((await changes('--ignored', one, two)).changes.map(({ path }) => path)).toContain('node_modules/x');
    // The owner's edits do not count: both have their own version.
    project.put('src/old.ts', 'owner\n');
    expect(await carrel.ok('diff', one, two, 'src/old.ts')).toMatch(/\n-four\n\+FOUR\n$/);
    project.put('src/old.ts', 'one\ntwo\nthree\n');
    await carrel.ok('apply', '--allow', 'all', one);
    // The mode of kept.log, which was applied, now shows through in the other sandbox.
    expect((await differing(one, two)).map(({ path }) => path)).toEqual(['guide/a.md', 'src/old.ts']);
    expect(await carrel.run(['diff', one, one])).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining(`${one} and ${one} do not differ`),
    });
  });

  it('a snapshot is reviewed by its id or label, alone or beside the present state', async () => {
    const name = `idle-${count}`;
    await carrel.ok('create', '--name', name, project.path);
    await carrel.ok('exec', name, '--', 'sh', '-c', 'echo 1 > src/new.ts');
    await carrel.ok('snapshot', name, 'first');
    await carrel.ok('exec', name, '--', 'sh', '-c', 'echo 2 > src/new.ts; echo 3 > src/late.ts');
    expect(await carrel.ok('diff', `${name}@0001`)).toMatch(/new file mode[\s\S]*\n\+1\n/);
    expect((await changes(`${name}@first`)).changes.map(({ path }) => path)).toEqual(['src/new.ts']);
    const since = await carrel.ok('diff', '--name-status', `${name}@0001`, name);
    expect(since).toBe('A\tsrc/late.ts\nM\tsrc/new.ts\n');
  });

  it('are refused if a name is unknown or ambiguous', async () => {
    const name = await agent('echo 1 > src/new.ts');
    const refused = async (args: readonly string[], exitCode: number, message: string) =>
      expect(await carrel.run(['diff', ...args], { cwd: project.path })).toMatchObject({
        exitCode,
        stderr: expect.stringContaining(message),
      });
    await refused([`${name}@`], 2, 'the snapshot after @ is missing');
    await refused([`${name}@0009`], 5, 'no snapshot 0009');
    await refused([name, `${name}@0009`], 5, 'no snapshot 0009');
    await refused(['nobody', name], 5, 'no sandbox nobody');
    await refused([name, 'nothing'], 5, 'nothing changed at nothing');
    project.put(name, 'a file of that name');
    await refused([name, name], 2, `"${name}" is a sandbox and a path`);
    await refused([name, '--', name], 5, `nothing changed at ${name}`);
    const elsewhere = new Project(carrel.folder(`elsewhere-${count}`), { a: '1' });
    await carrel.ok('create', '--name', `far-${count}`, elsewhere.path);
    await refused([name, `far-${count}`], 2, 'have different projects');
  });
});

describe('a long diff on a terminal', () => {
  it('goes through the pager with changed words coloured, and a key ends it', async () => {
    project.put('docs/a.md', 'The parser reads tabs.\n');
    const name = await agent("sed -i 's/tabs/spaces/' docs/a.md; seq 200 > src/long.ts");
    const terminal = carrelOn(carrel.home, ['diff', name], { cwd: project.path });
    await terminal.shows(/\+The parser reads spaces\.[\s\S]*\n:$/);
    // Only the changed word is highlighted within its line.
    expect(terminal.text).toMatch(/The parser reads \x1b\[[\d;]+mspaces/);
    expect(terminal.shown).not.toContain('+200');
    terminal.type('q');
    expect(await terminal.ended).toBe(0);
    const plain = carrelOn(carrel.home, ['diff', name], { cwd: project.path, env: { PAGER: 'cat' } });
    expect(await plain.ended).toBe(0);
    expect(plain.text).toContain('+200');
  });
});

describe('apply -p', () => {
  const lines = (change: Readonly<Record<number, string>>) =>
    Array.from({ length: 30 }, (_, n) => `${change[n] ?? `line ${n}`}\n`).join('');

  it('takes the hunks that are chosen at a terminal, and undo gives them back', async () => {
    project.put('src/long.ts', lines({}));
    const name = await agent(
      "sed -i -e 's/line 2$/two/' -e 's/line 5$/five/' -e 's/line 25$/late/' src/long.ts; echo '\\033[2J' > new; echo x > .envrc",
    );
    const terminal = carrelOn(carrel.home, ['apply', '-p', name], { cwd: project.path });
    await terminal.has(/Take this addition \[y,n,q,a,d,p,\?\]\? /);
    terminal.type('y\r');
    await terminal.has(/Take this addition[\s\S]*Take this addition/);
    terminal.type('n\r');
    await terminal.has(/\(1\/2\) Take this hunk \[y,n,q,a,d,j,J,g,\/,s,e,p,\?\]\? /);
    terminal.type('/late$\r');
    await terminal.has(/\(2\/2\)/);
    terminal.type('g1\r');
    await terminal.has(/\(2\/2\)[\s\S]*\(1\/2\)/);
    terminal.type('s\r');
    await terminal.has(/split into 2 hunks[\s\S]*\(1\/3\)/);
    terminal.type('n\r');
    await terminal.has(/\(2\/3\)/);
    terminal.type('a\r');
    await terminal.has(/Allow env this time\?/);
    terminal.type('y\r');
    expect(await terminal.ended).toBe(0);
    expect(project.read('src/long.ts')).toBe(lines({ 5: 'five', 25: 'late' }));
    expect(project.names()).toContain('.envrc');
    expect(project.names()).not.toContain('new');
    expect((await changes(name)).changes.map(({ path }) => path)).toEqual(['new', 'src/long.ts']);
    await carrel.ok('undo', name);
    expect(project.read('src/long.ts')).toBe(lines({}));
  });

  it('takes hunks that the editor changed, and undo gives them back', async () => {
    project.put('src/long.ts', lines({}));
    const name = await agent("sed -i -e 's/line 2$/two/' -e 's/line 5$/five/' -e 's/line 25$/late/' src/long.ts");
    const editor = join(carrel.folder('editor'), 'edit');
    const env = { EDITOR: `sh "${editor}" 'an argument'`, TMPDIR: carrel.folder('edited'), NO_COLOR: '1' };
    const terminal = carrelOn(carrel.home, ['apply', '-p', name], { cwd: project.path, env });
    const edit = (script: string, key = 'e') => {
      writeFileSync(editor, `test "$1" = 'an argument' || exit 9\nfile=$2\n${script}\n`);
      terminal.type(`${key}\r`);
    };
    await terminal.has(/\(1\/2\) Take this hunk \[y,n,q,a,d,j,J,g,\/,s,e,p,\?\]\? $/);
    edit('sed -i "s/^ line 3/ a lie/" "$file"');
    await terminal.has(/Your edited hunk does not apply\. Edit again \(saying "no" discards!\) \[y\/n\]\? $/);
    // The second edit begins with the text of the first, and the editor owns the terminal.
    const script = '-e "s/^ a lie/ line 3/" -e "s/^+two/+$typed\\xff/" -e "/^+five/d" -e "s/^-line 5/ line 5/"';
    edit(`printf 'two is: '; read typed; LC_ALL=C sed -i ${script} "$file"`, 'y');
    await terminal.has(/two is: $/);
    terminal.type('by hand\r');
    await terminal.has(/\(2\/2\) Take this hunk .*$/);
    edit('stat -c %a "$file" "$(dirname "$file")"; exit 3');
    await terminal.has(/600\s+700\s+carrel: the editor .* exit code 3\s+hint: [\s\S]*\(2\/2\) Take this hunk .*$/);
    edit('stty raw; kill -9 $$');
    await terminal.has(/ exit code 137\s+hint: [\s\S]*\(2\/2\) Take this hunk .*$/);
    edit('echo "# nothing" > "$file"');
    // The terminal echoes the key, so its mode is not the one that the killed editor left.
    await terminal.has(/ exit code 137[\s\S]*\(2\/2\) Take this hunk .*\? e\r\n[\s\S]*\(2\/2\) Take this hunk .*$/);
    terminal.type('n\r');
    expect(await terminal.ended).toBe(0);
    const taken = Buffer.from(lines({ 2: 'by hand\xff' }), 'latin1');
    expect(readFileSync(join(project.path, 'src/long.ts'))).toEqual(taken);
    expect(readdirSync(env.TMPDIR)).toEqual([]);
    expect(await carrel.ok('audit')).toMatch(new RegExp(`sandbox\\.apply ${name} ok .*edited=1`));
    const diff = await carrel.ok('diff', name);
    expect(diff).toMatch(/-by hand.\n\+two\n line 3\n line 4\n-line 5\n\+five\n[\s\S]*-line 25\n\+late\n/);
    await carrel.ok('undo', name);
    expect(project.read('src/long.ts')).toBe(lines({}));
  });

  it('applies nothing after Ctrl-C in the editor', async () => {
    const name = await agent('echo four >> src/old.ts');
    const env = { VISUAL: 'echo edits > /dev/tty; sleep 100; true', TMPDIR: carrel.folder('interrupted') };
    const terminal = carrelOn(carrel.home, ['apply', '-p', name], { cwd: project.path, env });
    await terminal.has(/Take this hunk/);
    terminal.type('e\r');
    await terminal.has(/edits/);
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(130);
    expect(terminal.text).toContain('the edit was cancelled');
    expect(project.read('src/old.ts')).toBe('one\ntwo\nthree\n');
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });

  it('applies nothing after Ctrl-C, and asks only at a terminal', async () => {
    const name = await agent('echo four >> src/old.ts');
    expect(await carrel.run(['apply', '-p', name])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Name the paths to take'),
    });
    const terminal = carrelOn(carrel.home, ['apply', '-p', name], { cwd: project.path });
    await terminal.has(/Take this hunk/);
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(130);
    expect(project.read('src/old.ts')).toBe('one\ntwo\nthree\n');
  });
});

describe('attempts', () => {
  // A command takes its number from the host name of its sandbox; the third one fails.
  const task = 'n=$(uname -n | sed s/.*-//); seq $n > src/made.ts; echo $n > count; test $n != 3';

  it('run side by side, are compared with their tests, and one is taken', async () => {
    const group = `fix-${count}`;
    const args = ['try', '3', '--name', group, '--test', 'test $(cat count) = 2', project.path, '--', 'sh', '-c', task];
    const lines = (await carrel.ok(...args)).trim().split('\n');
    expect(lines.map((line) => line.replace(/ +\d+s$/, '').split(/ {2,}/))).toEqual([
      ['NAME', 'STATE', 'FILES', 'LINES', 'TESTS', 'TIME'],
      [`${group}-1`, 'completed', '2', '+2 -0', 'fail (1)'],
      [`${group}-2`, 'completed', '2', '+3 -0', 'pass'],
      [`${group}-3`, 'failed (1)', '2', '+4 -0', 'fail (1)'],
    ]);
    // compare takes the name of the group, names of sandboxes, or nothing for the newest group.
    const tests = async (...more: string[]) =>
      (await carrel.json<{ name: string; test: number | null }[]>('compare', ...more)).map(({ test }) => test);
    expect(await tests()).toEqual([1, 0, 1]);
    expect(await tests(group, '--test', 'exit 4')).toEqual([4, 4, 4]);
    expect(await tests(`${group}-2`, `${group}-1`)).toEqual([0, 1]);
    // The copies in which the tests ran are gone.
    expect((await carrel.ok('ls', '-q')).split('\n').filter((name) => name.startsWith('test-'))).toEqual([]);
    await carrel.ok('compare', '--take', `${group}-2`);
    expect(project.read('src/made.ts')).toBe('1\n2\n');
    expect(await carrel.run(['compare', 'nothing'])).toMatchObject({ exitCode: 5 });
  });

  it('continue after Ctrl-C, and none is made if the name of one of them is taken', async () => {
    const group = `long-${count}`;
    const terminal = carrelOn(carrel.home, ['try', '2', '--name', group, project.path, '--', 'sleep', '600']);
    await terminal.has(/2 attempts: /);
    terminal.type('\u0003');
    expect(await terminal.ended).toBe(130);
    expect(terminal.text).toContain(`carrel compare ${group}`);
    expect((await carrel.json<{ state: string }[]>('compare', group)).map(({ state }) => state)).toEqual([
      'running',
      'running',
    ]);
    await carrel.ok('rm', '--force', `${group}-1`);
    expect(await carrel.run(['try', '2', '-d', '--name', group, project.path, '--', 'true'])).toMatchObject({
      exitCode: 6,
      stderr: expect.stringContaining(`${group}-2`),
    });
    expect(await carrel.ok('ls', '-q')).not.toContain(`${group}-1`);
    await carrel.ok('rm', '--force', `${group}-2`);
    for (const args of [['0', '--', 'true'], ['x', '--', 'true'], ['2']])
      expect((await carrel.run(['try', ...args])).exitCode).toBe(2);
  });
});

describe('commits', () => {
  it('are fetched as refs, without a change of files, and listed', async () => {
    const commit = 'git -c user.name=ada -c user.email=ada@x commit -qam';
    const name = await agent(`echo 1 >> docs/a.md; ${commit} one; echo 2 >> docs/a.md; ${commit} 'two \u001b[2J'`);
    const ref = `refs/carrel/${name}/heads/${git('branch', '--show-current').trim()}`;
    const before = [git('status', '--porcelain'), git('rev-parse', 'HEAD')];
    expect(await carrel.ok('fetch', name)).toContain(`2 commits on ${ref} (two `);
    expect([git('status', '--porcelain'), git('rev-parse', 'HEAD')]).toEqual(before);
    expect(await carrel.run(['fetch', name])).toMatchObject({ exitCode: 0, stdout: '' });
    const lines = (await carrel.ok('log', name)).trim().split('\n');
    expect(lines).toEqual([expect.stringMatching(`ada \\(${ref}\\) two`), expect.stringMatching(/ ada one$/)]);
    expect(lines.join('')).not.toContain('\u001b');
    expect((await carrel.ok('log', '-n', '1', name)).trim().split('\n')).toHaveLength(1);
    // A commit that was merged meanwhile causes no conflict.
    git('merge', '-q', ref);
    expect(await carrel.ok('apply', name)).toContain('already there (1)');
    expect(await carrel.run(['log', name])).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('no commits of its own'),
    });
  });

  it('are merged after an apply of the same files was undone, and apply takes what was not committed', async () => {
    const commit = 'git add .; git -c user.name=ada -c user.email=ada@x commit -qm one';
    const name = await agent(`echo 1 >> docs/a.md; echo new > docs/b.md; ${commit}; echo later > docs/c.md`);
    const ref = `refs/carrel/${name}/heads/${git('branch', '--show-current').trim()}`;
    await carrel.ok('fetch', name);
    await carrel.ok('apply', name);
    expect(() => git('merge', '-q', ref)).toThrow('would be overwritten by merge');
    await carrel.ok('undo', name);
    git('merge', '-q', ref);
    expect(await carrel.ok('apply', name)).toMatch(/^taken \(1\)\n +added +docs\/c\.md\nalready there \(2\)$/m);
    expect(git('status', '--porcelain')).toBe('?? docs/c.md\n');
  });

  it('need a repository', async () => {
    const plain = new Project(carrel.folder('plain'), { a: '1' });
    await carrel.ok('run', '--name', 'plain', plain.path, '--', 'true');
    for (const command of ['fetch', 'log'])
      expect(await carrel.run([command, 'plain'])).toMatchObject({
        exitCode: 3,
        stderr: expect.stringContaining('hint: Take the files: carrel apply plain'),
      });
  });
});

describe('disk space', () => {
  it('is shown by kind, and clean frees what is not needed after showing it', async () => {
    const name = `space-${count}`;
    await carrel.ok('create', '--name', name, project.path);
    await carrel.ok('exec', name, '--', 'sh', '-c', 'head -c 3000000 /dev/urandom > big');
    await carrel.ok('stop', name);
    await carrel.ok('discard', '--yes', name, 'big');
    const kept = await agent('echo 1 > src/kept.ts');
    const { uses } = await carrel.json<DiskView>('du');
    const of = (kind: string, which: string) => uses.find((use) => use.kind === kind && use.name === which)?.sizeBytes;
    expect(of('snapshots', name)).toBeGreaterThan(2_900_000);
    expect(of('store', 'carrel.db')).toBeGreaterThan(0);
    const text = await carrel.ok('du', '--all');
    expect(text).toMatch(new RegExp(`^snapshots +\\S+M\\n +\\S+M +${name}$`, 'm'));
    expect(text).toMatch(/^total +\S+/m);
    const names = (output: string) =>
      output.split('\n').flatMap((line) => line.match(/^(?:sandbox|snapshot) +(\S+)/)?.[1] ?? []);
    // No sandbox is older than the default.
    expect(names(await carrel.ok('clean', '--dry-run'))).toEqual([]);
    expect(names(await carrel.ok('clean', '--dry-run', '--older', '0'))).toContain(name);
    expect(await carrel.run(['clean', '--older', '0'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Add --yes'),
    });
    await carrel.ok('start', name);
    // A running sandbox stays, but its automatic snapshot goes; a sandbox with changes to apply stays.
    const removed = names(await carrel.ok('clean', '--yes', '--older', '0'));
    expect(removed).toContain(`${name}@0001`);
    expect(removed).not.toContain(kept);
    expect(await carrel.ok('ls', '-q')).toMatch(new RegExp(`^${name}$`, 'm'));
    expect(await carrel.json('snapshots', name)).toEqual([]);
    await carrel.ok('rm', '--force', name);
  });
});

describe('net follow', () => {
  it('shows an attempt when it happens, and a key allows it', async () => {
    const name = `online-${count}`;
    await carrel.ok('create', '--name', name, '--network', 'one.example', project.path);
    const terminal = carrelOn(carrel.home, ['net', 'follow', name]);
    await terminal.has(/a allows the last host/);
    const attempt = 'import urllib.request as u\ntry: u.urlopen("http://two.example/")\nexcept Exception: pass';
    // The stream may begin a moment after the first line on the screen.
    await until(async () => {
      await carrel.ok('exec', name, '--', 'python3', '-c', attempt);
      return /refuse.*two\.example:80/.test(terminal.text);
    }, 'the attempt to be shown');
    terminal.type('a');
    await terminal.has(new RegExp(`allowed two.example:80 for ${name}`));
    terminal.type('q');
    expect(await terminal.ended).toBe(0);
    const { network } = await carrel.json<SandboxView>('show', name);
    expect(network.allow).toEqual(['one.example', 'two.example:80']);
    expect(await carrel.ok('net', 'explain', 'registry.npmjs.org')).toMatch(/refused without --network[\s\S]*npm/);
    await carrel.ok('rm', '--force', name);
  });
});
