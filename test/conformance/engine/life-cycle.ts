import { describe, expect } from 'vitest';
import type { Handle } from '../../../src/kernel/engine/engine.ts';
import { type Case, codeOf, exitedWith, killedBy, succeeded, text } from './trial.ts';
import { until } from './wait.ts';

export function lifeCycle(it: Case): void {
  describe('start', () => {
    it('runs the command to its end and reports the code', async ({ t }) => {
      expect(await t.exit(await t.start(t.commands.exit(0)))).toEqual(succeeded);
      expect(await t.exit(await t.start(t.commands.exit(42)))).toEqual(exitedWith(42));
    });

    it('reports the signal that ended the command', async ({ t }) => {
      expect(await t.exit(await t.start(t.commands.dieBy('SIGKILL')))).toEqual(killedBy('SIGKILL', 9));
      expect(await t.exit(await t.start(t.commands.dieBy('SIGSEGV')))).toMatchObject(killedBy('SIGSEGV', 11));
    });

    it('reports a command that does not exist as 127 and says so in the log', async ({ t }) => {
      const made = await t.start(t.commands.missing);
      expect(await t.exit(made)).toEqual(exitedWith(127));
      expect(text(await t.logs(made.id), 'stderr')).toContain(t.commands.missing[0]);
    });

    it('gives the command its environment and folder', async ({ t }) => {
      const env = await t.start(t.commands.printEnv, { env: { PATH: '/usr/bin:/bin', GREETING: 'good day = "é"' } });
      const folder = await t.start(t.commands.printFolder, { cwd: '/tmp' });
      await Promise.all([t.exit(env), t.exit(folder)]);
      expect(text(await t.logs(env.id)).split('\n')).toContain('GREETING=good day = "é"');
      expect(text(await t.logs(folder.id))).toBe('/tmp\n');
    });

    it('gives a command without stdin an input that has ended', async ({ t }) => {
      expect(await t.exit(await t.start(t.commands.copyStdin, { stdin: false }))).toEqual(succeeded);
    });

    it('names the runtime it chose, and the limits it cannot enforce', async ({ t }) => {
      const { started, launch } = await t.idle();
      expect(started.runtime).toMatch(/^[a-z-]+$/);
      for (const key of started.advisory) expect(Object.keys(launch.limits)).toContain(key);
    });

    it('refuses a runtime it does not know, and leaves nothing', async ({ t }) => {
      const asked = t.launch({ runtime: 'no-such-runtime' });
      expect(await codeOf(t.engine.start(asked))).toBe('unsupported');
      expect(await t.kind({ id: asked.id, handle: null })).toBe('absent');
      expect(await t.engine.list()).not.toContain(asked.id);
    });

    it('repeated while it runs, does nothing', async ({ t }) => {
      const made = await t.ready(t.commands.countAndWait('runs'));
      expect(await t.engine.start(made.launch)).toEqual(made.started);
      expect(await t.kind(made)).toBe('running');
      expect(await t.shared.lines('runs')).toBe(1);
    });

    it('repeated after the exit, does not run the command again', async ({ t }) => {
      const made = await t.start(t.commands.count('runs', 3));
      await t.exit(made);
      await t.engine.start(made.launch);
      expect(await t.exit(made)).toEqual(exitedWith(3));
      expect(await t.shared.lines('runs')).toBe(1);
    });

    it('runs the command again after remove', async ({ t }) => {
      const made = await t.start(t.commands.count('runs', 3));
      await t.exit(made);
      await t.engine.remove(made.id, made.handle);
      const { handle } = await t.engine.start(made.launch);
      expect(await t.exit({ id: made.id, handle })).toEqual(exitedWith(3));
      expect(await t.shared.lines('runs')).toBe(2);
    });
  });

  describe('a sandbox without a command', () => {
    it('runs until it is stopped', async ({ t }) => {
      const made = await t.idle();
      expect((await t.run(made, t.commands.print('alive'))).stdout.toString()).toBe('alive');
      expect(await t.kind(made)).toBe('running');
      await t.engine.stop(made.id, made.handle, 10_000);
      await t.exit(made);
    });
  });

  describe('inspect', () => {
    it('reports a sandbox that was never started as absent', async ({ t }) => {
      expect(await t.kind({ id: t.launch({}).id, handle: null })).toBe('absent');
    });

    it('finds a running sandbox by a handle that was JSON in between', async ({ t }) => {
      const { id, handle, started } = await t.idle();
      expect(await t.engine.inspect(id, throughJson(handle))).toEqual({ kind: 'running', started });
    });

    it('finds a running sandbox without a handle', async ({ t }) => {
      const { id, started } = await t.idle();
      expect(await t.engine.inspect(id, null)).toEqual({ kind: 'running', started });
    });

    it('finds a sandbox that another instance started, with and without the handle', async ({ t }) => {
      const { id, handle, started } = await t.idle();
      await t.dispose(t.engine);
      const other = await t.reopen();
      expect(await other.inspect(id, throughJson(handle))).toEqual({ kind: 'running', started });
      expect(await other.inspect(id, null)).toEqual({ kind: 'running', started });
      expect(await other.list()).toEqual([id]);
    });

    it('reports an exit that no instance watched', async ({ t }) => {
      const work = { go: 'go', bytes: 10, done: 'done', code: 5 };
      const { id, handle } = await t.ready(t.commands.afterFile(work));
      await t.dispose(t.engine);
      await t.shared.touch('go');
      await until('the command to be done', async () => ((await t.shared.lines('done')) > 0 ? true : null));
      const other = await t.reopen();
      expect(await t.exit({ id, handle }, other)).toEqual(exitedWith(5));
      expect(await t.exit({ id, handle: null }, other)).toEqual(exitedWith(5));
    });

    it('reports the exit until remove', async ({ t }) => {
      const made = await t.start(t.commands.exit(9));
      await t.exit(made);
      expect(await t.exit({ id: made.id, handle: null })).toEqual(exitedWith(9));
      expect(await t.exit(made, await t.reopen())).toEqual(exitedWith(9));
      await t.engine.remove(made.id, made.handle);
      expect(await t.kind(made)).toBe('absent');
      expect(await t.kind({ id: made.id, handle: null })).toBe('absent');
    });
  });

  describe('list', () => {
    it('names running and exited sandboxes, until remove', async ({ t }) => {
      expect(await t.engine.list()).toEqual([]);
      const [alive, dead] = [await t.idle(), await t.start(t.commands.exit(0))];
      await t.exit(dead);
      expect([...(await t.engine.list())].sort()).toEqual([alive.id, dead.id].sort());
      await t.engine.remove(dead.id, dead.handle);
      expect(await t.engine.list()).toEqual([alive.id]);
    });

    it('names sandboxes without a record, and remove needs their id alone', async ({ t }) => {
      const { id } = await t.idle();
      await t.dispose(t.engine);
      const other = await t.reopen();
      expect(await other.list()).toEqual([id]);
      await other.remove(id, null);
      expect(await other.list()).toEqual([]);
    });
  });
}

function throughJson(handle: Handle): Handle {
  return JSON.parse(JSON.stringify(handle));
}
