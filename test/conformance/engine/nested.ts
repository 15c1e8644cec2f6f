/** Mounts at places inside of other mounts, where an agent may have put something else by the time of the next start. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, onTestFinished } from 'vitest';
import { Fault } from '../../../src/model/fault.ts';
import type { Mount } from '../../../src/model/mount.ts';
import type { Case, Trial } from './trial.ts';

const outer = '/outer';
const inner = '/outer/d/mb';

/** Targets of planted links, at which the inner volume must not be mounted. */
const aims = ['/proc', '/etc', '/dev', '/opt/carrel', '..', '.'];

export function nestedMounts(it: Case): void {
  describe('a mount inside of another one', () => {
    it('is mounted, and agent owns the folders in the path to it', async ({ t }) => {
      const { mounts, volume } = testbed();
      writeFileSync(join(volume, 'note'), 'of the volume\n');
      for (const kind of ['overlay', 'bind'] as const) {
        const made = await t.idle({ mounts: mounts(kind) });
        const { stdout, stderr } = await t.run(made, ['sh', '-c', `cat ${inner}/note && stat -c %U ${outer}/d`]);
        expect([kind, stdout.toString(), stderr.toString()]).toEqual([kind, 'of the volume\nagent\n', '']);
        expect((await t.run(made, ['touch', `${inner}/${kind}`])).exit.exitCode).toBe(0);
        await t.engine.remove(made.id, made.handle);
      }
      expect(readdirSync(volume).sort()).toEqual(['bind', 'note', 'overlay']);
    });

    it('may contain a third one, in any order of the launch, which is read-only on request', async ({ t }) => {
      const { mounts, volume } = testbed();
      const deepest = freshFolder();
      writeFileSync(join(deepest, 'note'), 'deep\n');
      const third: Mount = { kind: 'bind', source: deepest, target: `${inner}/third`, readonly: true, mapOwner: true };
      mkdirSync(join(volume, 'third'));
      chmodSync(join(volume, 'third'), 0o755);
      const made = await t.idle({ mounts: [third, ...mounts('overlay').reverse()] });
      expect((await t.run(made, ['cat', `${inner}/third/note`])).stdout.toString()).toBe('deep\n');
      expect((await t.run(made, ['touch', `${inner}/third/no`])).exit.exitCode).not.toBe(0);
      expect((await t.run(made, ['touch', `${inner}/yes`])).exit.exitCode).toBe(0);
    });

    it('never follows a link at its mount point or in the path to it', async ({ t }) => {
      for (const aim of aims) {
        const { mounts, layers, volume } = testbed();
        mkdirSync(join(layers, 'upper/elsewhere'));
        mkdirSync(join(layers, 'upper/d'));
        symlinkSync(aim, join(layers, 'upper/d/mb'));
        await expectRefused(t, mounts('overlay'), `${aim} as the last part`);
        rmSync(join(layers, 'upper/d'), { recursive: true });
        symlinkSync(aim, join(layers, 'upper/d'));
        await expectRefused(t, mounts('overlay'), `${aim} on the way`);
        expect([aim, readdirSync(volume)]).toEqual([aim, []]);
        expect(lstatSync(join(layers, 'upper/d')).isSymbolicLink()).toBe(true);
      }
    });

    it('never follows a link that lies in the layer below, nor one in a bound folder', async ({ t }) => {
      const { mounts, lower, bound } = testbed();
      for (const folder of [lower, bound]) symlinkSync('/proc', join(folder, 'd'));
      await expectRefused(t, mounts('overlay'), 'below');
      await expectRefused(t, mounts('bind'), 'bound');
    });

    it('is refused if a file is at its mount point or in the path to it', async ({ t }) => {
      const { mounts, layers } = testbed();
      writeFileSync(join(layers, 'upper/d'), 'mine\n');
      await expectRefused(t, mounts('overlay'), 'a file on the way');
      rmSync(join(layers, 'upper/d'));
      mkdirSync(join(layers, 'upper/d'));
      writeFileSync(join(layers, 'upper/d/mb'), 'mine\n');
      await expectRefused(t, mounts('overlay'), 'a file in its place');
    });

    it('stays inside of the outer one while folders and links in that are swapped', async ({ t }) => {
      const { mounts, bound } = testbed();
      const swapping = swap(bound);
      const seen: string[] = [];
      for (let round = 0; round < 4; round += 1) {
        const launch = t.launch({ mounts: mounts('bind') });
        const failure = await t.engine.start(launch).then(
          () => null,
          (error: unknown) => error,
        );
        if (failure === null) {
          const made = { id: launch.id, handle: null, launch, started: null as never };
          const { stdout } = await t.run(made, ['cat', '/proc/self/mounts']);
          seen.push(
            ...stdout
              .toString()
              .split('\n')
              .map((line) => line.split(' ')[1] ?? ''),
          );
        } else expect(failure).toBeInstanceOf(Fault);
        await t.engine.remove(launch.id, null);
      }
      await swapping.stop();
      expect(seen.filter((path) => path.endsWith('/mb') && !path.startsWith(outer))).toEqual([]);
    });
  });
}

/** A folder and a link change places below, as quickly as they can. */
function swap(folder: string): { stop(): Promise<void> } {
  mkdirSync(join(folder, 'd/mb'), { recursive: true });
  for (const path of [folder, join(folder, 'd'), join(folder, 'd/mb')]) chmodSync(path, 0o777);
  symlinkSync('/opt', join(folder, 'link'));
  let goesOn = true;
  const turns = (async () => {
    while (goesOn) {
      renameSync(join(folder, 'd'), join(folder, 'was'));
      renameSync(join(folder, 'link'), join(folder, 'd'));
      await nextTurn();
      renameSync(join(folder, 'd'), join(folder, 'link'));
      renameSync(join(folder, 'was'), join(folder, 'd'));
      await nextTurn();
    }
  })();
  return {
    stop: () => {
      goesOn = false;
      return turns;
    },
  };
}

async function expectRefused(t: Trial, mounts: readonly Mount[], what: string): Promise<void> {
  const launch = t.launch({ mounts });
  const said = await t.engine.start(launch).then(
    () => 'started',
    (error: unknown) => (error instanceof Fault ? `${error.code}: ${error.message}` : String(error)),
  );
  await t.engine.remove(launch.id, null);
  expect([what, said]).toEqual([what, expect.stringMatching(new RegExp(`^denied: .*${inner}`))]);
}

interface Testbed {
  readonly lower: string;
  readonly layers: string;
  readonly bound: string;
  readonly volume: string;
  /** A volume inside of another place, which is a working copy or a folder of the host. */
  readonly mounts: (kind: 'overlay' | 'bind') => Mount[];
}

function testbed(): Testbed {
  const [lower, layers, bound, volume] = Array.from({ length: 4 }, freshFolder) as [string, string, string, string];
  for (const name of ['upper', 'work']) mkdirSync(join(layers, name), { mode: 0o755 });
  const place: { [kind in 'overlay' | 'bind']: Mount } = {
    overlay: { kind: 'overlay', lower, folder: layers, target: outer, mapOwner: true },
    bind: { kind: 'bind', source: bound, target: outer, readonly: false, mapOwner: true },
  };
  const one: Mount = { kind: 'bind', source: volume, target: inner, readonly: false, mapOwner: true };
  return { lower, layers, bound, volume, mounts: (kind) => [place[kind], one] };
}

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-nested-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
