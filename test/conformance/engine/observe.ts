import { describe, expect } from 'vitest';
import { type Case, exitedWith, text } from './trial.ts';
import { within } from './wait.ts';

export function observation(it: Case): void {
  describe('onChange', () => {
    it('calls the listener after an exit', async ({ t }) => {
      const { id, handle } = await t.ready(t.commands.exitOnTerm(7));
      const seen = new Promise<void>((resolve, reject) => {
        t.engine.onChange((changed) => {
          if (changed === id) t.kind({ id, handle }).then((kind) => kind === 'exited' && resolve(), reject);
        });
      });
      seen.catch(() => {});
      const other = await t.reopen();
      await other.stop(id, handle, 10_000);
      await within('a hint after the exit', seen);
    });

    it('does not call a listener that has unsubscribed', async ({ t }) => {
      const heard: string[] = [];
      const kept = new Promise<void>((resolve) => {
        const unsubscribe = t.engine.onChange((id) => heard.push(id));
        unsubscribe();
        t.engine.onChange(() => resolve());
      });
      await t.exit(await t.start(t.commands.exit(0)));
      await within('a hint to the one who stayed', kept);
      expect(heard).toEqual([]);
    });
  });

  describe('stats', () => {
    it('count processes, memory and processor time of a sandbox, within its limits', async ({ t }) => {
      const made = await t.ready(t.commands.wait);
      const stats = await t.engine.stats(made.id, made.handle);
      // If the engine adds up the times of processes, these have to have run for some milliseconds.
      if (!made.started.advisory.includes('memoryBytes')) expect(stats.cpuSeconds).toBeGreaterThan(0);
      expect(stats.cpuSeconds).toBeLessThan(60);
      expect(stats.memoryBytes).toBeGreaterThan(0);
      expect(stats.memoryBytes).toBeLessThanOrEqual(made.launch.limits.memoryBytes);
      expect(stats.pids).toBeGreaterThanOrEqual(1);
      expect(stats.pids).toBeLessThan(10);
    });
  });

  describe('two sandboxes', () => {
    it('have separate environments, ends and logs', async ({ t }) => {
      const [one, two] = await Promise.all([
        t.ready(t.commands.exitOnTerm(1), { env: { PATH: '/usr/bin:/bin', NAME: 'one' } }),
        t.ready(t.commands.exitOnTerm(2), { env: { PATH: '/usr/bin:/bin', NAME: 'two' } }),
      ]);
      expect((await t.run(one, t.commands.printEnv)).stdout.toString()).toContain('NAME=one\n');
      expect((await t.run(two, t.commands.printEnv)).stdout.toString()).toContain('NAME=two\n');
      await t.engine.stop(one.id, one.handle, 10_000);
      expect(await t.exit(one)).toEqual(exitedWith(1));
      expect(await t.kind(two)).toBe('running');
      await t.engine.remove(one.id, one.handle);
      expect(await t.engine.list()).toEqual([two.id]);
      expect(text(await t.logs(two.id))).toBe('ready\n');
    });

    it('that start at the same time both run', async ({ t }) => {
      const all = await Promise.all([1, 2, 3, 4].map((code) => t.start(t.commands.exit(code))));
      expect(await Promise.all(all.map((made) => t.exit(made)))).toEqual([1, 2, 3, 4].map(exitedWith));
    });
  });

  describe('probe', () => {
    it('reports the features of this machine, with a hint for each that is missing', async ({ t }) => {
      const rows = await t.engine.probe();
      expect(rows.length).toBeGreaterThan(0);
      for (const { level, hint } of rows) if (level !== 'ok') expect(hint).not.toBeNull();
    });
  });
}
