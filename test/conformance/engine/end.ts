import { describe, expect } from 'vitest';
import { type Case, exitedWith, killedBy } from './trial.ts';
import { Heard, within } from './wait.ts';

const longGraceMs = 60_000;

export function endings(it: Case): void {
  describe('stop', () => {
    it('lets the command end on SIGTERM, and returns when it has', async ({ t }) => {
      const made = await t.ready(t.commands.exitOnTerm(7));
      await within('stop', t.engine.stop(made.id, made.handle, longGraceMs), longGraceMs / 2);
      expect(await t.engine.inspect(made.id, made.handle)).toEqual({ kind: 'exited', exit: exitedWith(7) });
    });

    it('ends a command without a handler by SIGTERM', async ({ t }) => {
      const made = await t.ready(t.commands.wait);
      await within('stop', t.engine.stop(made.id, made.handle, longGraceMs), longGraceMs / 2);
      expect(await t.exit(made)).toEqual(killedBy('SIGTERM', 15));
    });

    it('right after the start ends the command by SIGTERM', async ({ t }) => {
      for (let n = 0; n < 3; n += 1) {
        const made = await t.idle();
        await within('stop', t.engine.stop(made.id, made.handle, longGraceMs), longGraceMs / 2);
        expect(await t.exit(made)).toEqual(killedBy('SIGTERM', 15));
        await t.engine.remove(made.id, made.handle);
      }
    });

    it('ends a command that ignores SIGTERM after the grace time', async ({ t }) => {
      const made = await t.ready(t.commands.ignoreTerm);
      const before = Date.now();
      await t.engine.stop(made.id, made.handle, 200);
      expect(Date.now() - before).toBeGreaterThanOrEqual(195);
      expect(await t.engine.inspect(made.id, made.handle)).toEqual({ kind: 'exited', exit: killedBy('SIGKILL', 9) });
    });

    it('without grace time ends the command at once', async ({ t }) => {
      const made = await t.ready(t.commands.exitOnTerm(7));
      await t.engine.stop(made.id, made.handle, 0);
      expect(await t.exit(made)).toEqual(killedBy('SIGKILL', 9));
    });

    it('ends processes that were started in the sandbox later', async ({ t }) => {
      const made = await t.idle();
      const process = await t.exec(made, t.commands.ignoreTerm);
      process.stderr.resume();
      await new Heard(process.stdout).has('ready\n');
      await t.engine.stop(made.id, made.handle, longGraceMs);
      expect(await within('the process to end', process.exited)).toEqual(killedBy('SIGKILL', 9));
    });

    it('may be repeated, also at the same time, and changes nothing then', async ({ t }) => {
      const made = await t.ready(t.commands.exitOnTerm(7));
      await Promise.all([1, 2].map(() => t.engine.stop(made.id, made.handle, longGraceMs)));
      await t.engine.stop(made.id, made.handle, longGraceMs);
      expect(await t.exit(made)).toEqual(exitedWith(7));
    });

    it('needs no handle', async ({ t }) => {
      const made = await t.ready(t.commands.exitOnTerm(7));
      await t.engine.stop(made.id, null, longGraceMs);
      expect(await t.exit(made)).toEqual(exitedWith(7));
    });

    it('leaves an exited sandbox as it is', async ({ t }) => {
      const made = await t.start(t.commands.exit(5));
      await t.exit(made);
      await t.engine.stop(made.id, made.handle, longGraceMs);
      expect(await t.exit(made)).toEqual(exitedWith(5));
    });

    it('does nothing if there is no such sandbox', async ({ t }) => {
      await t.engine.stop(t.launch({}).id, null, longGraceMs);
    });
  });

  describe('remove', () => {
    it('makes an exited sandbox absent, and may be repeated', async ({ t }) => {
      const made = await t.start(t.commands.exit(0));
      await t.exit(made);
      await t.engine.remove(made.id, made.handle);
      await t.engine.remove(made.id, made.handle);
      expect(await t.kind(made)).toBe('absent');
      expect(await t.engine.list()).toEqual([]);
    });

    it('ends a running sandbox and everything in it', async ({ t }) => {
      const made = await t.ready(t.commands.ignoreTerm);
      const process = await t.exec(made, t.commands.ignoreTerm);
      process.stderr.resume();
      await new Heard(process.stdout).has('ready\n');
      await t.engine.remove(made.id, made.handle);
      expect(await within('the process to end', process.exited)).toEqual(killedBy('SIGKILL', 9));
      expect(await t.kind(made)).toBe('absent');
      expect(await t.kind({ id: made.id, handle: null })).toBe('absent');
      expect(await t.engine.list()).toEqual([]);
    });

    it('does nothing for the id of no sandbox', async ({ t }) => {
      await t.engine.remove(t.launch({}).id, null);
    });

    it('removes the log', async ({ t }) => {
      const made = await t.start(t.commands.print('old\n'));
      await t.exit(made);
      await t.engine.remove(made.id, made.handle);
      expect(await t.logs(made.id)).toEqual([]);
    });
  });
}
