import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { flooded } from './setup.ts';
import { type Case, codeOf, exitedWith, killedBy, succeeded } from './trial.ts';
import { expectBytes, Heard, until, within } from './wait.ts';

const MiB = 1024 ** 2;
const everyByte = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

export function executions(it: Case): void {
  describe('exec', () => {
    it('keeps stdout and stderr apart', async ({ t }) => {
      const ran = await t.run(await t.idle(), t.commands.printBoth('to stdout', 'to stderr'));
      expect(ran.stdout.toString()).toBe('to stdout');
      expect(ran.stderr.toString()).toBe('to stderr');
    });

    it('reports the exit code and the signal', async ({ t }) => {
      const made = await t.idle();
      expect((await t.run(made, t.commands.exit(0))).exit).toEqual(succeeded);
      expect((await t.run(made, t.commands.exit(42))).exit).toEqual(exitedWith(42));
      expect((await t.run(made, t.commands.dieBy('SIGKILL'))).exit).toEqual(killedBy('SIGKILL', 9));
    });

    it('leaves the sandbox running', async ({ t }) => {
      const made = await t.idle();
      await t.run(made, t.commands.exit(1));
      expect(await t.kind(made)).toBe('running');
    });

    it('reports a command that does not exist as 127, with a message', async ({ t }) => {
      const ran = await t.run(await t.idle(), t.commands.missing);
      expect(ran.exit).toEqual(exitedWith(127));
      expect(ran.stderr.toString()).toContain(t.commands.missing[0]);
      expect(ran.stdout.toString()).toBe('');
    });

    it('adds its environment to that of the sandbox', async ({ t }) => {
      const made = await t.idle({ env: { PATH: '/usr/bin:/bin', KEPT: 'by the sandbox', CHANGED: 'before' } });
      const env = { CHANGED: 'after', ADDED: 'good day = "é"' };
      const ran = await t.run(made, t.commands.printEnv, null, { env });
      const lines = ran.stdout.toString().split('\n');
      expect(lines).toEqual(expect.arrayContaining(['KEPT=by the sandbox', 'CHANGED=after', 'ADDED=good day = "é"']));
    });

    it('runs the command in its folder', async ({ t }) => {
      const ran = await t.run(await t.idle(), t.commands.printFolder, null, { cwd: '/tmp' });
      expect(ran.stdout.toString()).toBe('/tmp\n');
    });

    it('passes any bytes of stdin, and its end', async ({ t }) => {
      const ran = await t.run(await t.idle(), t.commands.copyStdin, everyByte);
      expect(ran.stdout).toEqual(everyByte);
      expect(ran.exit).toEqual(succeeded);
    });

    it('passes megabytes of stdin', async ({ t }) => {
      const input = flooded(2 * MiB);
      const ran = await t.run(await t.idle(), t.commands.copyStdin, input);
      expectBytes(ran.stdout, input);
    });

    it('gives a command without stdin an input that has ended', async ({ t }) => {
      expect((await t.run(await t.idle(), t.commands.copyStdin)).exit).toEqual(succeeded);
    });

    it('makes the writer wait for a slow reader, and drops nothing', async ({ t }) => {
      const made = await t.idle();
      await t.shared.touch('go');
      const work = { go: 'go', bytes: 8 * MiB, done: 'done', code: 0 };
      const process = await t.exec(made, t.commands.afterFile(work));
      process.stderr.resume();
      await until('output', async () => (process.stdout.readableLength > 0 ? true : null));
      // The writer gets time here, while the test reads nothing.
      await t.run(made, t.commands.flood(8 * MiB));
      expect(await t.shared.lines('done')).toBe(0);
      const chunks: Buffer[] = [];
      for await (const chunk of process.stdout) {
        chunks.push(chunk as Buffer);
        await turn();
      }
      expectBytes(Buffer.concat(chunks), Buffer.concat([Buffer.from('ready\n'), flooded(8 * MiB)]));
      expect(await within('the end', process.exited)).toEqual(succeeded);
      expect(await t.shared.lines('done')).toBe(1);
    });

    it('runs twenty commands at once without mixing their output', async ({ t }) => {
      const made = await t.idle();
      const inputs = Array.from({ length: 20 }, (_, n) => Buffer.from(`input of ${n}\n`.repeat(1000)));
      const rans = await Promise.all(inputs.map((input) => t.run(made, t.commands.copyStdin, input)));
      expect(rans.map(({ stdout }) => stdout.toString())).toEqual(inputs.map(String));
      expect(rans.map(({ exit }) => exit)).toEqual(inputs.map(() => succeeded));
    });

    it('passes signals on', async ({ t }) => {
      const process = await t.exec(await t.idle(), t.commands.exitOnTerm(7));
      process.stderr.resume();
      await new Heard(process.stdout).has('ready\n');
      await process.signal('SIGTERM');
      expect(await within('the end', process.exited)).toEqual(exitedWith(7));
    });

    it('reports the signal that was sent to it and ended it', async ({ t }) => {
      const process = await t.exec(await t.idle(), t.commands.wait);
      process.stderr.resume();
      await new Heard(process.stdout).has('ready\n');
      await process.signal('SIGINT');
      expect(await within('the end', process.exited)).toEqual(killedBy('SIGINT', 2));
    });

    it('lets a detached command run on, and write', async ({ t }) => {
      const work = { go: 'go', bytes: MiB, done: 'done', code: 6 };
      const process = await t.exec(await t.idle(), t.commands.afterFile(work));
      await new Heard(process.stdout).has('ready\n');
      process.detach();
      await t.shared.touch('go');
      expect(await within('the end', process.exited)).toEqual(exitedWith(6));
      expect(await t.shared.lines('done')).toBe(1);
    });

    it('reaches a sandbox that another instance started', async ({ t }) => {
      const made = await t.idle();
      const other = await t.reopen();
      const spec = { command: t.commands.print('hello'), env: {}, cwd: '/', stdin: false, terminal: null };
      const process = await other.exec(made.id, JSON.parse(JSON.stringify(made.handle)), spec);
      process.stderr.resume();
      expect((await new Heard(process.stdout).toEnd()).toString()).toBe('hello');
    });

    it('fails with not_ready if nothing runs', async ({ t }) => {
      const made = await t.start(t.commands.exit(0));
      await t.exit(made);
      expect(await codeOf(t.exec(made, t.commands.exit(0)))).toBe('not_ready');
      await t.engine.remove(made.id, made.handle);
      expect(await codeOf(t.exec(made, t.commands.exit(0)))).toBe('not_ready');
      expect(await codeOf(t.exec({ ...made, handle: null }, t.commands.exit(0)))).toBe('not_ready');
    });
  });
}
