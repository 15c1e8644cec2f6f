import { describe, expect, it } from 'vitest';
import type { Handle } from '../../../src/engine/engine.ts';
import { codeOf, exitedWith, killedBy, succeeded, type Trial, text } from './trial.ts';
import { until } from './wait.ts';

export function lifeCycle(trial: () => Trial): void {
  describe('start', () => {
    it('runs the command to its end and reports the code', async () => {
      const { start, commands, exit } = bound(trial());
      expect(await exit(await start(commands.exit(0)))).toEqual(succeeded);
      expect(await exit(await start(commands.exit(42)))).toEqual(exitedWith(42));
    });

    it('reports the signal that ended the command', async () => {
      const { start, commands, exit } = bound(trial());
      expect(await exit(await start(commands.dieBy('SIGKILL')))).toEqual(killedBy('SIGKILL', 9));
      expect(await exit(await start(commands.dieBy('SIGSEGV')))).toMatchObject(killedBy('SIGSEGV', 11));
    });

    it('reports a command that does not exist as 127 and says so in the log', async () => {
      const { start, commands, exit, logs } = bound(trial());
      const made = await start(commands.missing);
      expect(await exit(made)).toEqual(exitedWith(127));
      expect(text(await logs(made.id), 'stderr')).toContain(commands.missing[0]);
    });

    it('gives the command its environment and folder', async () => {
      const { start, commands, exit, logs } = bound(trial());
      const env = await start(commands.printEnv, { env: { PATH: '/usr/bin:/bin', GREETING: 'good day = "é"' } });
      const folder = await start(commands.printFolder, { cwd: '/tmp' });
      await Promise.all([exit(env), exit(folder)]);
      expect(text(await logs(env.id)).split('\n')).toContain('GREETING=good day = "é"');
      expect(text(await logs(folder.id))).toBe('/tmp\n');
    });

    it('gives a command without stdin an ended one', async () => {
      const { start, commands, exit } = bound(trial());
      expect(await exit(await start(commands.copyStdin, { stdin: false }))).toEqual(succeeded);
    });

    it('names the runtime it chose, and the limits it cannot enforce', async () => {
      const { idle } = bound(trial());
      const { started, launch } = await idle();
      expect(started.runtime).toMatch(/^[a-z-]+$/);
      for (const key of started.advisory) expect(Object.keys(launch.limits)).toContain(key);
    });

    it('refuses a runtime it does not know, and leaves nothing', async () => {
      const { engine, launch, kind } = bound(trial());
      const asked = launch({ runtime: 'no-such-runtime' });
      expect(await codeOf(engine.start(asked))).toBe('unsupported');
      expect(await kind({ id: asked.id, handle: null })).toBe('absent');
      expect(await engine.list()).not.toContain(asked.id);
    });

    it('repeated while it runs, does nothing', async () => {
      const { engine, ready, commands, shared, kind } = bound(trial());
      const made = await ready(commands.countAndWait('runs'));
      expect(await engine.start(made.launch)).toEqual(made.started);
      expect(await kind(made)).toBe('running');
      expect(await shared.lines('runs')).toBe(1);
    });

    it('repeated after the exit, does not run the command again', async () => {
      const { engine, start, commands, shared, exit } = bound(trial());
      const made = await start(commands.count('runs', 3));
      await exit(made);
      await engine.start(made.launch);
      expect(await exit(made)).toEqual(exitedWith(3));
      expect(await shared.lines('runs')).toBe(1);
    });

    it('runs the command again after remove', async () => {
      const { engine, start, commands, shared, exit } = bound(trial());
      const made = await start(commands.count('runs', 3));
      await exit(made);
      await engine.remove(made.id, made.handle);
      const { handle } = await engine.start(made.launch);
      expect(await exit({ id: made.id, handle })).toEqual(exitedWith(3));
      expect(await shared.lines('runs')).toBe(2);
    });
  });

  describe('a sandbox without a command', () => {
    it('runs until it is stopped', async () => {
      const { engine, idle, kind, run, commands, exit } = bound(trial());
      const made = await idle();
      expect((await run(made, commands.print('alive'))).stdout.toString()).toBe('alive');
      expect(await kind(made)).toBe('running');
      await engine.stop(made.id, made.handle, 10_000);
      await exit(made);
    });
  });

  describe('inspect', () => {
    it('knows nothing of what was never started', async () => {
      const { launch, kind } = bound(trial());
      expect(await kind({ id: launch({}).id, handle: null })).toBe('absent');
    });

    it('finds what runs by its handle, after a journey through JSON', async () => {
      const { engine, idle } = bound(trial());
      const { id, handle, started } = await idle();
      expect(await engine.inspect(id, throughJson(handle))).toEqual({ kind: 'running', started });
    });

    it('finds what runs without a handle', async () => {
      const { engine, idle } = bound(trial());
      const { id, started } = await idle();
      expect(await engine.inspect(id, null)).toEqual({ kind: 'running', started });
    });

    it('finds what another instance started, with and without the handle', async () => {
      const { engine, idle, reopen, dispose } = bound(trial());
      const { id, handle, started } = await idle();
      await dispose(engine);
      const other = await reopen();
      expect(await other.inspect(id, throughJson(handle))).toEqual({ kind: 'running', started });
      expect(await other.inspect(id, null)).toEqual({ kind: 'running', started });
      expect(await other.list()).toEqual([id]);
    });

    it('reports an exit that no instance watched', async () => {
      const { engine, ready, commands, shared, reopen, dispose, exit } = bound(trial());
      const told = { go: 'go', bytes: 10, done: 'done', code: 5 };
      const { id, handle } = await ready(commands.whenTold(told));
      await dispose(engine);
      await shared.touch('go');
      await until('the command to be done', async () => ((await shared.lines('done')) > 0 ? true : null));
      const other = await reopen();
      expect(await exit({ id, handle }, other)).toEqual(exitedWith(5));
      expect(await exit({ id, handle: null }, other)).toEqual(exitedWith(5));
    });

    it('reports the exit until remove', async () => {
      const { engine, start, commands, exit, kind, reopen } = bound(trial());
      const made = await start(commands.exit(9));
      await exit(made);
      expect(await exit({ id: made.id, handle: null })).toEqual(exitedWith(9));
      expect(await exit(made, await reopen())).toEqual(exitedWith(9));
      await engine.remove(made.id, made.handle);
      expect(await kind(made)).toBe('absent');
      expect(await kind({ id: made.id, handle: null })).toBe('absent');
    });
  });

  describe('list', () => {
    it('names what runs and what has exited, until remove', async () => {
      const { engine, start, idle, commands, exit } = bound(trial());
      expect(await engine.list()).toEqual([]);
      const [alive, dead] = [await idle(), await start(commands.exit(0))];
      await exit(dead);
      expect([...(await engine.list())].sort()).toEqual([alive.id, dead.id].sort());
      await engine.remove(dead.id, dead.handle);
      expect(await engine.list()).toEqual([alive.id]);
    });

    it('names what nobody remembers, and remove takes it by its id alone', async () => {
      const { engine, idle, reopen, dispose } = bound(trial());
      const { id } = await idle();
      await dispose(engine);
      const other = await reopen();
      expect(await other.list()).toEqual([id]);
      await other.remove(id, null);
      expect(await other.list()).toEqual([]);
    });
  });
}

function throughJson(handle: Handle): Handle {
  return JSON.parse(JSON.stringify(handle));
}

/** The trial with methods that can be taken apart. */
export function bound(trial: Trial): Trial {
  return new Proxy(trial, {
    get: (target, name) => {
      const value = target[name as keyof Trial] as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
