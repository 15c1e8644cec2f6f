/** Programs with pipes, started without a fork of this process or by Node. */
import { closeSync, mkdtempSync, openSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PipedOptions, startPiped } from '../../src/lib/process/piped-program.ts';
import { type RunSyncOptions, runSync } from '../../src/lib/process/run-sync.ts';
import { isRealRoot } from '../harness/machine.ts';

let cwd: string;
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'carrel-piped-')));
});
afterEach(() => rmSync(cwd, { recursive: true }));

const env = { PATH: '/usr/bin:/bin', GREETING: 'hello', NONE: undefined };
const openDescriptors = () => readdirSync('/proc/self/fd').length;

const own = { uid: process.getuid?.(), gid: process.getgid?.() };
/** If an account is given, Node starts the program, even if it is the account of this process. */
const ways = [
  ['without a copy of this process', {}],
  ['by Node', own],
] as const;

describe.each(ways)('a program started %s', (_, account) => {
  const start = (script: string, options: Partial<PipedOptions> = {}) =>
    startPiped('sh', ['-c', script], { env, cwd, ...account, ...options });

  async function outcome(script: string, input = '', options: Partial<PipedOptions> = {}) {
    const program = start(script, options);
    program.stdin?.end(input);
    const [stdout, stderr, exitCode] = await Promise.all([
      buffer(program.stdout),
      buffer(program.stderr),
      program.ended,
    ]);
    return { stdout: `${stdout}`, stderr: `${stderr}`, exitCode };
  }

  it('is found in PATH, and has its folder, environment, input and output', async () => {
    const script = 'pwd; env | grep -E "GREETING|NONE"; cat; echo no >&2; exit 7';
    expect(await outcome(script, 'words')).toEqual({
      stdout: `${cwd}\nGREETING=hello\nwords`,
      stderr: 'no\n',
      exitCode: 7,
    });
  });

  it('passes on more than a pipe holds, both ways', async () => {
    const input = 'x'.repeat(1_000_000);
    expect((await outcome('cat', input)).stdout).toBe(input);
  });

  it('reads an open file from its present offset', async () => {
    writeFileSync(join(cwd, 'input'), 'from a file');
    const input = openSync(join(cwd, 'input'), 'r');
    try {
      expect((await outcome('cat', '', { input })).stdout).toBe('from a file');
    } finally {
      closeSync(input);
    }
  });

  it('may end without reading its input', async () => {
    expect((await outcome('exit 3', 'x'.repeat(1_000_000))).exitCode).toBe(3);
  });

  it('can be killed, and gets no signal after its end', async () => {
    const program = start('echo ready; exec sleep 1000');
    program.stderr.resume();
    program.stdout.once('data', () => program.kill('SIGTERM'));
    expect(await program.ended).toBe(143);
    program.kill('SIGKILL');
  });

  it('is reported as ended after its output was destroyed', async () => {
    const program = start('exec yes');
    program.stderr.resume();
    program.stdout.once('data', () => program.stdout.destroy());
    // By SIGPIPE, or because Node's kind of pipe was reset.
    expect([141, 1]).toContain(await program.ended);
  });

  it('leaves no descriptor open', async () => {
    const before = openDescriptors();
    for (let n = 0; n < 20; n += 1) await outcome('cat', 'words');
    expect(openDescriptors()).toBe(before);
  });
});

it('a program that does not exist is reported, and leaves no descriptor open', async () => {
  const before = openDescriptors();
  expect(() => startPiped('no-such-program', [], { env, cwd })).toThrow(/no-such-program is not installed/);
  expect(openDescriptors()).toBe(before);
  await expect(startPiped('no-such-program', [], { env, cwd, ...own }).ended).rejects.toMatchObject({
    code: 'unsupported',
  });
});

it.skipIf(!isRealRoot)('a program runs with the given account', async () => {
  const program = startPiped('id', ['-u'], { env, cwd: '/', uid: 54_321, gid: 54_321 });
  expect(`${await buffer(program.stdout)}`).toBe('54321\n');
});

describe.each(ways)('while a thread waits, a program %s', (_, account) => {
  const run = (script: string, options: Partial<RunSyncOptions> = {}) =>
    runSync('sh', ['-c', script], {
      ...{ env, cwd, input: Buffer.of(), timeoutMs: 30_000, maxBytes: 1_000_000 },
      ...account,
      ...options,
    });

  it('answers with its output and exit code', () => {
    const { stdout, exitCode } = run('cat; pwd; exit 5', { input: Buffer.from('words\n') });
    expect([`${stdout}`, exitCode]).toEqual([`words\n${cwd}\n`, 5]);
  });

  it('gets more input than a pipe holds', () => {
    const input = Buffer.alloc(300_000, 'x');
    expect(run('cat', { input }).stdout.equals(input)).toBe(true);
  });

  it('may end without reading its input', () => {
    expect(run('exit 3', { input: Buffer.from('words') }).exitCode).toBe(3);
  });

  it('is killed if it takes too long or prints too much, and leaves no descriptor open', () => {
    const before = openDescriptors();
    expect(run('exec sleep 1000', { timeoutMs: 50 }).exitCode).not.toBe(0);
    expect(run('exec yes', { maxBytes: 100_000 }).exitCode).not.toBe(0);
    expect(openDescriptors()).toBe(before);
  });

  it('is waited for even if signals arrive', () => {
    const ignore = () => {};
    process.on('SIGUSR2', ignore);
    try {
      const script = 'for n in 1 2 3; do kill -USR2 $PPID; sleep 0.05; done; echo words';
      expect(`${run(script).stdout}`).toBe('words\n');
    } finally {
      process.off('SIGUSR2', ignore);
    }
  });

  it('that does not exist has the exit code 127', () => {
    const options = { env, cwd, input: Buffer.of(), timeoutMs: 30_000, maxBytes: 10, ...account };
    expect(runSync('no-such-program', [], options).exitCode).toBe(127);
  });
});
