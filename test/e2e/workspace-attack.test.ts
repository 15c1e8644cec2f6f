// @takes 40 s
/**
 * A hostile agent against people who look at its work: they never read or write files outside of its working copy, no
 * planted program runs on the host, no command waits forever, and no change passes the gate.
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation, type Outcome, until } from '../harness/installation.ts';
import { isRealRoot } from '../harness/machine.ts';
import { agent, apply, changesOf, numbers, outcomes, Project, stateOf, ways } from '../harness/project.ts';
import { createRootlessAccount, type RootlessAccount } from '../harness/rootless.ts';

/** Characters that a terminal obeys, except line ends and tabs. */
const terminalCodes = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
/** Codes that Carrel itself prints on a terminal: colours, and clearing the line that shows progress. */
const ownCodes = /\u001b\[[0-9;]*m|\r\u001b\[K|\r(?=\n)/g;

describe.each(ways)('as %s', (way) => {
  const token = `canary-${randomBytes(8).toString('hex')}`;
  let account: RootlessAccount | null;
  let carrel: Installation;
  let outside: Project;
  let before: string;

  beforeAll(() => {
    account = way === 'rootless' && isRealRoot ? createRootlessAccount() : null;
    carrel = new Installation(account);
    outside = new Project(carrel.folder('outside'), { secret: `${token}\n`, 'sub/secret': `${token}\n` });
    before = stateOf(outside.path);
  });
  afterAll(async () => {
    await carrel.dispose();
    account?.dispose();
  });

  /** Runs a command until it ends with any result; it may neither hang nor show a file from outside. */
  async function look(...args: string[]): Promise<Outcome> {
    const outcome = await carrel.run(args);
    expect(outcome.exitCode, `${args.join(' ')}: ${outcome.stderr}`).toBeLessThan(128);
    expect(outcome.stdout + outcome.stderr).not.toContain(token);
    expect(stateOf(outside.path)).toBe(before);
    return outcome;
  }
  const holds = (folder: string) => spawnSync('grep', ['-rlI', token, folder], { encoding: 'utf8' }).stdout;

  it('links, pipes and sockets in place of files and folders are not followed', async () => {
    const project = new Project(carrel.folder('planted'), { file: 'f\n', 'folder/secret': 's\n', other: 'o\n' });
    await carrel.ok('create', '--name', 'planted', project.path);
    const plant = [
      'rm -r file folder other; ln -s "$1/secret" file; ln -s "$1" folder; mkfifo other pipe',
      'ln -s "$1/secret" link; mkdir deep; ln -s "$1" deep/sub; ln "deep/sub" hard; echo fine > fine',
      'python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\'socket\')"',
    ].join('; ');
    await agent(carrel, 'planted', plant, outside.path);
    const listed = ['T file', 'T folder', 'D folder/secret', 'T other', 'A pipe', 'A socket', 'A link'];
    expect(await changesOf(carrel, 'planted')).toEqual(expect.arrayContaining(listed));
    for (const option of [[], ['--stat'], ['--name-status']]) await look('diff', 'planted', ...option);
    await look('patch', 'planted');
    await look('ls', '--size');
    await look('snapshot', 'planted');
    await look('fork', 'planted', 'planted-fork');
    expect(await changesOf(carrel, 'planted-fork')).toEqual(expect.arrayContaining(listed));
    await look('apply', 'planted', '--dry-run', '--allow', 'all');
    await look('apply', 'planted', '--leave');
    expect(project.read('fine')).toBe('fine\n');
    expect(project.read('file')).toBe('f\n');
    expect(holds(project.path)).toBe('');
    expect(holds(join(carrel.home, 'sandboxes'))).toBe('');
    await carrel.ok('stop', '--grace', '0', 'planted');
    await look('discard', 'planted', '--yes');
    expect(await changesOf(carrel, 'planted')).toEqual([]);
    await carrel.ok('rm', '--force', 'planted', 'planted-fork');
  });

  it('folders that become links, and files that become pipes, while they are read are not followed', async () => {
    const rounds = 2;
    const project = new Project(carrel.folder('swapped'), { 'own/secret': 's\n', file: 'f\n' });
    const program = readFileSync('test/fixtures/attacks/swap.py', 'utf8');
    await carrel.ok('create', '--name', 'swap', project.path, '--', 'python3', '-c', program, outside.path);
    await until(
      async () => (await carrel.run(['exec', 'swap', '--', 'test', '-e', 'ready'])).exitCode === 0,
      'it to begin',
    );
    for (let round = 0; round < rounds; round += 1) {
      await look('diff', 'swap');
      await look('diff', '--stat', 'swap');
      await look('patch', 'swap');
      await look('ls', '--size');
      await look('apply', 'swap', '--theirs', '--allow', 'executable');
      await look('apply', 'swap', '--leave');
      await look('snapshot', 'swap');
      await look('fork', 'swap', `swapped-${round}`);
      expect(holds(project.path)).toBe('');
    }
    expect((await carrel.show('swap')).state).toBe('running');
    expect(holds(join(carrel.home, 'sandboxes'))).toBe('');
    await carrel.ok('rm', '--force', 'swap', ...Array.from({ length: rounds }, (_, round) => `swapped-${round}`));
  });

  describe('names and contents with control sequences of a terminal', () => {
    let project: Project;
    beforeAll(async () => {
      project = new Project(carrel.folder('odd'), { plain: 'x\n' });
      await carrel.ok('create', '--name', 'odd', project.path);
      const script = `
import os
for name in (b'new\\nline', b'esc\\x1b[31mred', b'\\xff\\xfe', b'bell\\x07', b'rtl\\xe2\\x80\\xaetxt', b'csi\\xc2\\x9b2J', b'cr\\rover'):
    open(name, 'wb').write(b'content \\x1b]0;title\\x07 \\x1b[2J \\xc2\\x9b31m\\rover\\n')
os.symlink(b'\\x1b[31mtarget', 'link')
`;
      await carrel.ok('exec', 'odd', '--', 'python3', '-c', script);
    });
    afterAll(() => carrel.ok('rm', '--force', 'odd'));

    it.each([['--stat'], ['--name-status']])('are shown by diff %s without the sequences', async (option) => {
      const { stdout, exitCode } = await look('diff', 'odd', option);
      expect(exitCode).toBe(0);
      expect(stdout).toContain('esc');
      expect(stdout.split('\n').filter((line) => line.includes('line') && line.includes('new'))).toHaveLength(1);
      expect(stdout).not.toMatch(terminalCodes);
    });

    it('are shown by apply and undo without the sequences', async () => {
      const planned = await look('apply', 'odd', '--allow', 'all', '--dry-run');
      const done = await look('apply', 'odd', '--allow', 'all');
      const back = await look('undo', 'odd');
      for (const { stdout, stderr, exitCode } of [planned, done, back]) {
        expect(exitCode).toBe(0);
        expect(stdout).toContain('esc');
        expect(stdout + stderr).not.toMatch(terminalCodes);
      }
      expect(project.names()).toEqual(['plain']);
    });

    it.each([[['diff', 'odd']], [['diff', '--stat', 'odd']], [['apply', 'odd', '--dry-run', '--allow', 'all']]])(
      'are shown by %j without the sequences on a terminal, too',
      (args) => {
        const command = [process.execPath, resolve('bin/carrel'), ...args].join(' ');
        const argv = ['script', '-qec', command, '/dev/null'];
        const [file, ...rest] = account ? account.wrap(argv) : argv;
        const { stdout } = spawnSync(file!, rest, {
          env: {
            PATH: process.env.PATH,
            HOME: carrel.home,
            CARREL_HOME: carrel.home,
            TERM: 'xterm-256color',
            PAGER: 'cat',
          },
          timeout: 20_000,
        });
        const shown = stdout.toString('utf8').replace(ownCodes, '');
        expect(shown).toContain('esc');
        expect(shown).not.toMatch(terminalCodes);
      },
    );
  });

  it('git configuration of an agent runs no program on the host', async () => {
    const project = new Project(carrel.folder('configured'), { 'a.txt': numbers(1, 9), 'b.bin': 'b\n' });
    project.git('init', '-q');
    project.git('add', '-A');
    project.git('commit', '-qm', 'first');
    const canary = join(carrel.folder('ran'), 'canary');
    await carrel.ok('create', '--name', 'configured', project.path);
    const script = `
printf '#!/bin/sh\\necho ran >> /tmp/ran\\ntouch "$1"\\ncat\\n' > /home/agent/evil; chmod 755 /home/agent/evil
run="sh -c 'echo ran >> /tmp/ran; touch $1; cat'"
for key in filter.evil.clean filter.evil.smudge diff.evil.textconv diff.evil.command diff.external merge.evil.driver \\
  core.fsmonitor core.sshCommand core.pager core.editor core.askPass core.gitProxy gpg.program credential.helper \\
  uploadpack.packObjectsHook sequence.editor pager.diff pager.log interactive.diffFilter alias.diff alias.log; do
  git config $key "$run"
done
git config filter.evil.required true; git config core.hooksPath .git/hooks; git config commit.gpgSign true
git config remote.origin.url "ext::$run"; git config core.alternateRefsCommand "$run"
for hook in pre-commit post-commit reference-transaction post-checkout update pre-auto-gc post-index-change fsmonitor-watchman; do
  printf '#!/bin/sh\\necho ran >> /tmp/ran; touch "%s"\\n' "$1" > .git/hooks/$hook; chmod 755 .git/hooks/$hook
done
echo '* filter=evil diff=evil merge=evil' > .gitattributes; cp .gitattributes .git/info/attributes
echo more >> a.txt; printf '\\0bin' > b.bin; git status > /dev/null || true; wc -l < /tmp/ran`;
    // The hooks do run: git inside ran some.
    expect(Number(await agent(carrel, 'configured', script, canary))).toBeGreaterThan(0);
    project.put('a.txt', `first\n${numbers(2, 9)}`);
    for (const option of [[], ['--stat'], ['--name-status']]) await look('diff', 'configured', ...option);
    await look('patch', 'configured');
    await look('apply', 'configured', '--branch', 'taken', '-m', 'x', '--leave');
    expect(project.git('rev-parse', '--verify', 'taken')).toMatch(/^[0-9a-f]{40}$/);
    const held = await apply(carrel, 'configured');
    expect([held.blocked, held.exitCode]).toEqual(['gated', 4]);
    const gated = held.paths.filter(({ outcome }) => outcome === 'gated').map(({ path }) => path);
    expect(gated).toEqual(
      expect.arrayContaining(['.git/config', '.git/hooks/post-commit', '.git/info/attributes', '.gitattributes']),
    );
    await look('apply', 'configured', '--leave');
    expect(project.read('a.txt')).toBe(`first\n${numbers(2, 9)}more\n`);
    expect(project.names()).toEqual(['.git', 'a.txt', 'b.bin']);
    expect(existsSync(project.at('.git/hooks/post-commit'))).toBe(false);
    expect(project.read('.git/config')).not.toContain('evil');
    expect(existsSync(canary)).toBe(false);
    await carrel.ok('rm', '--force', 'configured');
  });

  it('a repository that points at another one, with invalid refs, leaks and changes nothing', async () => {
    const project = new Project(carrel.folder('hostile'), { a: 'a\n' });
    for (const one of [project, outside]) {
      one.git('init', '-q');
      one.git('add', '-A');
      one.git('commit', '-qm', 'first');
    }
    const secret = outside.git('rev-parse', 'HEAD');
    before = stateOf(outside.path);
    await carrel.ok('create', '--name', 'hostile', project.path);
    const refs = () => project.git('for-each-ref', '--format=%(refname)').split('\n');
    const tricks = [
      `echo '${outside.path}/.git/objects' > .git/objects/info/alternates; echo ${secret} > .git/refs/heads/secret`,
      `for name in ../../../outside/x refs/heads/../../x 'refs/heads/a b' refs/heads/x.lock; do echo "$(git rev-parse HEAD) $name"; done > .git/packed-refs`,
      "echo 'ref: ../../../outside/secret' > .git/HEAD",
      `rm -r .git/refs/heads; ln -s ${outside.path}/.git/refs/heads .git/refs/heads`,
      `git init -q .; head=$(git hash-object -w -t commit /dev/null 2>/dev/null || echo ${'0'.repeat(40)}); for n in $(seq 3000); do echo "$head refs/heads/n$n"; done > .git/packed-refs`,
      'rm -r .git; mkfifo .git',
      'rm -r .git; ln -s / .git',
    ];
    for (const trick of tricks) {
      await agent(carrel, 'hostile', `rm -rf .git; cp -r /.workspace/.git .git; echo x >> a; ${trick}`);
      await look('diff', 'hostile');
      await look('apply', 'hostile', '--leave');
      expect(refs().filter((ref) => !/^refs\/heads\/main$|^refs\/carrel\/hostile\//.test(ref))).toEqual([]);
      expect(spawnSync('git', ['-C', project.path, 'cat-file', '-e', secret]).status).not.toBe(0);
      expect(project.git('fsck', '--strict', '--no-dangling')).toBe('');
    }
    expect(project.read('a')).toBe(`a\n${'x\n'.repeat(tricks.length)}`);
    await carrel.ok('rm', '--force', 'hostile');
  });

  it('the gate covers names that a filesystem takes for others, and content that was swapped after a review', async () => {
    const pack = (scripts: object, version: string) => JSON.stringify({ name: 'p', version, scripts });
    const project = new Project(carrel.folder('gated'), { 'package.json': pack({ test: 'true' }, '1') });
    await carrel.ok('create', '--name', 'gated', project.path);
    const hidden = [
      '.GIT/hooks/post-commit',
      '.git /config',
      '.git./hooks/pre-commit',
      'git~1/config',
      '.g\u200cit/config',
      'sub/.git/config',
      'sub/.Git/hooks/pre-push',
      'bare/config',
      '.ENVRC',
      '.VSCode/tasks.json',
      '.github/workflows/x.yml',
      'sub/.gitmodules',
      'link-out',
      'link/.git',
      'run.sh',
    ];
    const write = `
import os, sys
for path in sys.argv[1:]:
    if os.path.dirname(path): os.makedirs(os.path.dirname(path), exist_ok=True)
    if path == 'link-out': os.symlink('../outside', path)
    elif path == 'link/.git': os.symlink('../elsewhere', path)
    else: open(path, 'w').write('[core]\\n\\tfsmonitor = true\\n')
    if path == 'run.sh': os.chmod(path, 0o755)
open('bare/HEAD', 'w').write('ref: refs/heads/main\\n'); os.makedirs('bare/objects'); os.makedirs('bare/refs')
open('fine', 'w').write('fine')
`;
    await carrel.ok('exec', 'gated', '--', 'python3', '-c', write, ...hidden);
    const held = await apply(carrel, 'gated');
    expect([held.blocked, held.exitCode]).toEqual(['gated', 4]);
    const gated = held.paths.filter(({ outcome }) => outcome === 'gated').map(({ path }) => path);
    expect(gated.sort()).toEqual([...hidden, 'bare/HEAD'].sort());
    expect(project.names()).toEqual(['package.json']);
    await apply(carrel, 'gated', '--leave');
    for (const path of hidden) expect(existsSync(project.at(path)), path).toBe(false);
    expect(project.read('fine')).toBe('fine');
    await agent(carrel, 'gated', 'printf %s "$1" > package.json', pack({ test: 'true' }, '2'));
    expect(outcomes(await apply(carrel, 'gated', 'package.json', '--dry-run'))).toEqual(['take package.json']);
    await agent(carrel, 'gated', 'printf %s "$1" > package.json', pack({ test: 'evil' }, '2'));
    expect(outcomes(await apply(carrel, 'gated', 'package.json'))).toEqual(['gated package.json']);
    expect(project.read('package.json')).toBe(pack({ test: 'true' }, '1'));
    await carrel.ok('rm', '--force', 'gated');
  });

  it('files of carrel cannot be seen inside, and forged overlay attributes change no listing', async () => {
    const project = new Project(carrel.folder('marked'), {
      'src/a': 'a\n',
      'src/b': 'b\n',
      gone: 'g\n',
      big: numbers(1, 999),
    });
    await carrel.ok('create', '--name', 'marked', project.path);
    await agent(carrel, 'marked', 'echo c > src/c; rm gone; echo x >> big; mkdir made');
    await carrel.ok('snapshot', 'marked');
    await apply(carrel, 'marked', 'src/c');
    const find = 'find / -path /proc -prune -o -path /sys -prune -o -path /usr -prune -o';
    const ours = '-name base.log -o -name carrel.db -o -name journal.json -o -name snapshot.json -o -name restore.json';
    expect(await agent(carrel, 'marked', `${find} \\( ${ours} \\) -print 2>/dev/null || true`)).toBe('');
    const expected = await changesOf(carrel, 'marked');
    expect(expected).toEqual(['M big', 'D gone', 'A made']);
    const marks = `
import os
tried = 0
for path in ('src', 'made', 'src/a', 'src/c', 'big', '.'):
    for space in ('user.overlay.', 'user.overlay.overlay.', 'trusted.overlay.'):
        for name, value in (('opaque', b'y'), ('opaque', b'x'), ('redirect', b'/etc'), ('metacopy', b''), ('whiteout', b''), ('origin', b'x'), ('impure', b'y'), ('nlink', b'U+0')):
            tried += 1
            try: os.setxattr(path, space + name, value)
            except OSError: pass
print(tried, sorted(os.listdir('src')), open('big').read().count('\\n'))
`;
    const seen = "144 ['a', 'b', 'c'] 1000\n";
    expect(await carrel.ok('exec', 'marked', '--', 'python3', '-c', marks)).toBe(seen);
    // A change of attributes alone copies a file up, which is no change of the working copy.
    expect(await changesOf(carrel, 'marked')).toEqual(expected);
    await carrel.ok('stop', '--grace', '0', 'marked');
    await carrel.ok('start', 'marked');
    expect(await carrel.ok('exec', 'marked', '--', 'python3', '-c', marks)).toBe(seen);
    expect(await changesOf(carrel, 'marked')).toEqual(expected);
    expect(outcomes(await apply(carrel, 'marked'))).toEqual(['take big', 'take gone', 'take made']);
    await carrel.ok('rm', '--force', 'marked');
  });

  it('a project that another sandbox replaces by a link is not followed', async () => {
    const mono = new Project(carrel.folder('mono'), { 'app/secret': 'app\n', 'app/a': 'a\n' });
    const app = new Project(mono.at('app'));
    app.git('init', '-q');
    app.git('add', '-A');
    app.git('commit', '-qm', 'first');
    await carrel.ok('create', '--name', 'inner', app.path);
    await carrel.ok('create', '--mode', 'bind', '--name', 'outer', mono.path);
    await agent(carrel, 'inner', 'echo planted > secret; echo planted > new; rm a');
    await agent(carrel, 'outer', 'mv app away; ln -s "$1" app', outside.path);
    const commands = [
      ['diff', 'inner'],
      ['diff', '--stat', 'inner'],
      ['patch', 'inner'],
      ['apply', 'inner', '--dry-run'],
      ['apply', 'inner', '--theirs', '--allow', 'all'],
      ['apply', 'inner', '--branch', 'x', '-m', 'x'],
    ];
    for (const command of commands) {
      const { exitCode, stderr } = await look(...command);
      expect(stderr).toMatch(/link|does not exist any more/);
      expect(exitCode).not.toBe(0);
    }
    await carrel.ok('stop', '--grace', '0', 'inner');
    await look('discard', 'inner', '--yes');
    await agent(carrel, 'outer', 'rm app; mv away app');
    await carrel.ok('rm', '--force', 'inner', 'outer');
  });

  it('a project that flips between folder and link is not followed', async () => {
    const mono = new Project(carrel.folder('flipped'), { 'app/secret': 'app\n' });
    await carrel.ok('create', '--name', 'under', mono.at('app'));
    await agent(carrel, 'under', 'echo planted > secret; echo planted > sub; echo planted > new');
    const flip = 'ln -s "$1" link; while :; do mv -T app away; mv -T link app; mv -T app link; mv -T away app; done';
    await carrel.ok(
      'create',
      '--mode',
      'bind',
      '--name',
      'over',
      mono.path,
      '--',
      'sh',
      '-c',
      flip,
      'sh',
      outside.path,
    );
    for (let round = 0; round < 4; round += 1) {
      await look('diff', 'under');
      await look('apply', 'under', '--theirs', '--allow', 'all');
      await look('undo', 'under');
    }
    await carrel.ok('rm', '--force', 'under', 'over');
  });
});
