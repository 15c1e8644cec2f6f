import { describe, expect } from 'vitest';
import type { ProcessRef } from '../../../src/lib/process/process.ts';
import { Fault } from '../../../src/model/fault.ts';
import { type Case, codeOf } from './trial.ts';

export function networks(it: Case): void {
  describe('the network', () => {
    it('belongs to the process that start passes to its hook, also for another instance', async ({ t }) => {
      const launch = t.launch({ command: t.commands.wait });
      let told: ProcessRef | null = null;
      const { handle } = await t.engine.start(launch, async (init) => {
        told = init();
      });
      expect(told).not.toBeNull();
      expect(await t.engine.network(launch.id, handle)).toEqual(told);
      const other = await t.reopen();
      expect(await other.network(launch.id, handle)).toEqual(told);
    });

    it('whose hook fails makes the start fail, and nothing is left', async ({ t }) => {
      const launch = t.launch({ command: t.commands.wait });
      const refuse = async () => {
        throw new Fault('unsupported', 'no network today');
      };
      expect(await codeOf(t.engine.start(launch, refuse))).toBe('unsupported');
      expect(await t.kind({ id: launch.id, handle: null })).toBe('absent');
    });

    it('of a sandbox that has ended is not ready', async ({ t }) => {
      const made = await t.start(t.commands.exit(0));
      await t.exit(made);
      expect(await codeOf(t.engine.network(made.id, made.handle))).toBe('not_ready');
    });
  });
}
