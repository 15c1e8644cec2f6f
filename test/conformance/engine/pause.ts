import { describe, expect } from 'vitest';
import { type Case, codeOf, exitedWith, type Made, type Trial } from './trial.ts';
import { Heard, until } from './wait.ts';

export function pauses(it: Case): void {
  describe('pause', () => {
    it('stops the command and later execs, until resume', async ({ t }) => {
      const made = await t.ready(t.commands.tick('own'));
      const later = await t.exec(made, t.commands.tick('later'));
      new Heard(later.stdout);
      await ticks(t, 'later');
      await t.engine.pause(made.id, made.handle);
      await standsStill(t, ['own', 'later']);
      await t.engine.resume(made.id, made.handle);
      await ticks(t, 'own');
      await ticks(t, 'later');
      later.detach();
    });

    it('may be repeated, and so may resume', async ({ t }) => {
      const made = await t.ready(t.commands.tick('own'));
      await Promise.all([t.engine.pause(made.id, made.handle), t.engine.pause(made.id, null)]);
      await t.engine.pause(made.id, made.handle);
      await standsStill(t, ['own']);
      await t.engine.resume(made.id, null);
      await t.engine.resume(made.id, made.handle);
      await ticks(t, 'own');
      await t.engine.pause(made.id, made.handle);
      await standsStill(t, ['own']);
    });

    it('is inspected as running, and an exec waits for resume', async ({ t }) => {
      const made = await t.ready(t.commands.wait);
      await t.engine.pause(made.id, made.handle);
      expect(await t.engine.inspect(made.id, made.handle)).toEqual({ kind: 'running', started: made.started });
      expect(await t.engine.inspect(made.id, null)).toEqual({ kind: 'running', started: made.started });
      const exec = t.run(made, t.commands.count('runs', 4));
      await standsStill(t, ['runs']);
      await t.engine.resume(made.id, made.handle);
      expect((await exec).exit).toEqual(exitedWith(4));
    });

    it('also stops execs that have just started', async ({ t }) => {
      const made = await t.ready(t.commands.wait);
      const execs = Array.from({ length: 4 }, () => t.exec(made, t.commands.tick('late')));
      const started = await Promise.all(execs);
      for (const { stdout } of started) new Heard(stdout);
      await t.engine.pause(made.id, made.handle);
      await standsStill(t, ['late']);
      await t.engine.resume(made.id, made.handle);
      await ticks(t, 'late');
      for (const one of started) one.detach();
    });

    it('fails with conflict if nothing runs; resume does nothing', async ({ t }) => {
      const never = t.launch({}).id;
      expect(await codeOf(t.engine.pause(never, null))).toBe('conflict');
      await t.engine.resume(never, null);
      const made = await t.start(t.commands.exit(3));
      await t.exit(made);
      expect(await codeOf(t.engine.pause(made.id, made.handle))).toBe('conflict');
      await t.engine.resume(made.id, made.handle);
      expect(await t.exit(made)).toEqual(exitedWith(3));
    });

    it('does not keep stop from ending the command by SIGTERM', async ({ t }) => {
      const made = await t.ready(t.commands.exitOnTerm(7));
      await t.engine.pause(made.id, made.handle);
      await t.engine.stop(made.id, made.handle, 10_000);
      expect(await t.exit(made)).toEqual(exitedWith(7));
    });

    it('does not keep remove from removing the sandbox', async ({ t }) => {
      const made = await t.ready(t.commands.tick('own'));
      await t.engine.pause(made.id, made.handle);
      await t.engine.remove(made.id, made.handle);
      expect(await t.kind(made)).toBe('absent');
    });
  });

  describe('a pause of a daemon that is gone', () => {
    const looks = { 'with its handle': (made: Made) => made.handle, 'without a handle': () => null };
    for (const [how, handleOf] of Object.entries(looks)) {
      it(`ends when another daemon inspects the sandbox ${how}`, async ({ t }) => {
        const made = await t.ready(t.commands.tick('own'));
        await t.engine.pause(made.id, made.handle);
        await standsStill(t, ['own']);
        const other = await t.reopen();
        expect(await other.inspect(made.id, handleOf(made))).toEqual({ kind: 'running', started: made.started });
        await ticks(t, 'own');
      });
    }

    it('ends when the instance is disposed of', async ({ t }) => {
      const made = await t.ready(t.commands.tick('own'));
      await t.engine.pause(made.id, made.handle);
      await t.dispose(t.engine);
      await ticks(t, 'own');
    });
  });
}

/** When another sandbox has written so many lines, the paused one would have written some, too, if it ran. */
const enough = 20;

async function standsStill(t: Trial, files: readonly string[]): Promise<void> {
  const before = await Promise.all(files.map((file) => t.shared.lines(file)));
  const clock = `clock-${Math.random()}`;
  const other = await t.ready(t.commands.tick(clock));
  await until('another sandbox to go on', async () => ((await t.shared.lines(clock)) >= enough ? true : null));
  await t.engine.remove(other.id, other.handle);
  expect(await Promise.all(files.map((file) => t.shared.lines(file)))).toEqual(before);
}

async function ticks(t: Trial, file: string): Promise<void> {
  const before = await t.shared.lines(file);
  await until(`${file} to go on`, async () => ((await t.shared.lines(file)) > before + 2 ? true : null));
}
