import { describe, expect } from 'vitest';
import { flooded } from './setup.ts';
import { type Case, codeOf, succeeded } from './trial.ts';
import { expectBytes, Heard } from './wait.ts';

export function attachment(it: Case): void {
  describe('attach', () => {
    it('misses no byte when a console was asked for at the start', async ({ t }) => {
      const made = await t.start(t.commands.printBoth('to stdout', 'to stderr'), { console: true });
      const console = await t.engine.attach(made.id, made.handle);
      const [stdout, stderr] = [new Heard(console.stdout), new Heard(console.stderr)];
      expect((await stdout.toEnd()).toString()).toBe('to stdout');
      expect((await stderr.toEnd()).toString()).toBe('to stderr');
      expect(await t.exit(made)).toEqual(succeeded);
    });

    it('makes the command wait for its console, and drops nothing', async ({ t }) => {
      const bytes = 2 * 1024 ** 2;
      const made = await t.start(t.commands.flood(bytes), { console: true });
      const console = await t.engine.attach(made.id, made.handle);
      console.stderr.resume();
      expectBytes(await new Heard(console.stdout).toEnd(), flooded(bytes));
      expect(await t.exit(made)).toEqual(succeeded);
    });

    it('keeps everything for a late reader, even past the end of the command', async ({ t }) => {
      const bytes = 64 * 1024;
      const made = await t.start(t.commands.flood(bytes), { console: true });
      const console = await t.engine.attach(made.id, made.handle);
      console.stderr.resume();
      // Time for the command to write what it can, and to end if it can.
      await t.exit(await t.start(t.commands.exit(0)));
      expectBytes(await new Heard(console.stdout).toEnd(), flooded(bytes));
    });

    it('passes stdin to the command, and its end', async ({ t }) => {
      const made = await t.start(t.commands.copyStdin, { console: true, stdin: true });
      const console = await t.engine.attach(made.id, made.handle);
      console.stderr.resume();
      const stdout = new Heard(console.stdout);
      console.stdin.write('first\n');
      await stdout.has('first\n');
      console.stdin.end('last\n');
      expect((await stdout.toEnd()).toString()).toBe('first\nlast\n');
      expect(await t.exit(made)).toEqual(succeeded);
    });

    it('works again after a detach, which the command does not notice', async ({ t }) => {
      const made = await t.start(t.commands.copyStdin, { stdin: true });
      for (const line of ['first\n', 'second\n']) {
        const console = await t.engine.attach(made.id, made.handle);
        console.stderr.resume();
        console.stdin.write(line);
        await new Heard(console.stdout).has(line);
        console.detach();
      }
      expect(await t.kind(made)).toBe('running');
    });

    it('reaches a sandbox that another instance started', async ({ t }) => {
      const made = await t.start(t.commands.copyStdin, { stdin: true });
      const console = await (await t.reopen()).attach(made.id, JSON.parse(JSON.stringify(made.handle)));
      console.stderr.resume();
      console.stdin.write('hello\n');
      await new Heard(console.stdout).has('hello\n');
      console.detach();
    });

    it('fails with not_ready if nothing runs', async ({ t }) => {
      const made = await t.start(t.commands.exit(0));
      await t.exit(made);
      expect(await codeOf(t.engine.attach(made.id, made.handle))).toBe('not_ready');
      await t.engine.remove(made.id, made.handle);
      expect(await codeOf(t.engine.attach(made.id, null))).toBe('not_ready');
    });
  });
}
