import { describe, expect } from 'vitest';
import { type Case, exitedWith, killedBy, succeeded, text } from './trial.ts';
import { Heard, within } from './wait.ts';

const terminal = { rows: 33, columns: 101 };

export function terminals(it: Case): void {
  describe('exec with a terminal', () => {
    it('gives the command a terminal', async ({ t }) => {
      const made = await t.idle();
      const inTerminal = await t.run(made, t.commands.tellTerminal, null, { stdin: true, terminal });
      expect(inTerminal.stdout.toString().trim()).toBe('terminal');
      expect(inTerminal.exit).toEqual(succeeded);
      expect((await t.run(made, t.commands.tellTerminal)).stdout.toString().trim()).toBe('pipe');
    });

    it('returns all output on stdout, and the exit code', async ({ t }) => {
      const made = await t.idle();
      const ran = await t.run(made, t.commands.printBoth('to stdout', 'to stderr'), null, { stdin: true, terminal });
      expect(ran.stdout.toString()).toBe('to stdoutto stderr');
      expect(ran.stderr.toString()).toBe('');
      expect((await t.run(made, t.commands.exit(42), null, { stdin: true, terminal })).exit).toEqual(exitedWith(42));
    });

    it('has the size that was asked for, and takes a new one', async ({ t }) => {
      const process = await t.exec(await t.idle(), t.commands.tellSize, { stdin: true, terminal });
      process.stderr.resume();
      const stdout = new Heard(process.stdout);
      await stdout.has('33 101');
      await stdout.has('ready');
      await process.resize(44, 120);
      await stdout.has('44 120');
      for (const rows of [45, 46, 47]) await process.resize(rows, 120);
      await stdout.has('47 120');
      await process.signal('SIGKILL');
      expect(await within('the end', process.exited)).toEqual(killedBy('SIGKILL', 9));
    });

    it('passes typed input to the command', async ({ t }) => {
      const process = await t.exec(await t.idle(), t.commands.copyStdin, { stdin: true, terminal });
      process.stderr.resume();
      const stdout = new Heard(process.stdout);
      process.stdin.write('typed\n');
      await stdout.has('typed');
      await process.signal('SIGKILL');
      await within('the end', process.exited);
    });

    it('lets a detached command run on, and write', async ({ t }) => {
      const work = { go: 'go', bytes: 1024 ** 2, done: 'done', code: 6 };
      const process = await t.exec(await t.idle(), t.commands.afterFile(work), { stdin: true, terminal });
      await new Heard(process.stdout).has('ready');
      process.detach();
      await t.shared.touch('go');
      expect(await within('the end', process.exited)).toEqual(exitedWith(6));
      expect(await t.shared.lines('done')).toBe(1);
    });

    it('lets a command without output end', async ({ t }) => {
      const made = await t.idle();
      const runs = Array.from({ length: 5 }, () => t.run(made, t.commands.exit(0), null, { stdin: true, terminal }));
      expect((await Promise.all(runs)).map(({ exit }) => exit)).toEqual(runs.map(() => succeeded));
    });
  });

  describe('a terminal of the sandbox’s own command', () => {
    it('has the size of the launch, and takes a new one', async ({ t }) => {
      const made = await t.start(t.commands.tellSize, { terminal, console: true });
      const console = await t.engine.attach(made.id, made.handle);
      const stdout = new Heard(console.stdout);
      await stdout.has('33 101');
      await stdout.has('ready');
      await console.resize(44, 120);
      await stdout.has('44 120');
      await t.engine.stop(made.id, made.handle, 0);
      await stdout.toEnd();
    });

    it('has all output on stdout and in the log', async ({ t }) => {
      const made = await t.start(t.commands.printBoth('to stdout\n', 'to stderr\n'), { terminal, console: true });
      const console = await t.engine.attach(made.id, made.handle);
      const stdout = new Heard(console.stdout);
      console.stderr.resume();
      const lines = /^to stdout\r?\nto stderr\r?\n$/;
      expect((await stdout.toEnd()).toString()).toMatch(lines);
      expect(await t.exit(made)).toEqual(succeeded);
      expect(text(await t.logs(made.id))).toMatch(lines);
    });

    it('can be attached later, and again after a detach', async ({ t }) => {
      const made = await t.start(t.commands.copyStdin, { terminal });
      for (const line of ['first', 'second']) {
        const console = await t.engine.attach(made.id, made.handle);
        console.stderr.resume();
        const stdout = new Heard(console.stdout);
        console.stdin.write(`${line}\n`);
        await stdout.has(line);
        console.detach();
      }
      expect(await t.kind(made)).toBe('running');
    });
  });
}
