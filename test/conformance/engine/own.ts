import { linkSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished } from 'vitest';
import type { Mount } from '../../../src/model/mount.ts';
import type { Case, Made, Trial } from './trial.ts';

const target = '/given';

export function ownedFolders(it: Case): void {
  describe('a folder that is mounted as own', () => {
    it('belongs to agent, and so do the plain files in it if it is read-only', async ({ t }) => {
      const source = freshFolder();
      writeFileSync(join(source, 'key'), 'value', { mode: 0o400 });
      const made = await t.idle({ mounts: [owned(source, true)] });
      expect(await owners(t, made, ['.', 'key'])).toEqual(['agent agent 700', 'agent agent 400']);
      expect((await t.run(made, ['cat', `${target}/key`])).stdout.toString()).toBe('value');
    });

    it('belongs to agent, but the files in it keep their owner, if it can be written', async ({ t }) => {
      const source = freshFolder();
      writeFileSync(join(source, 'key'), 'value', { mode: 0o400 });
      const before = statSync(join(source, 'key')).uid;
      const made = await t.idle({ mounts: [owned(source, false)] });
      expect(await owners(t, made, ['.'])).toEqual(['agent agent 700']);
      expect(statSync(join(source, 'key')).uid).toBe(before);
    });

    it('does not change the owner of targets of links, nor of anything in folders below', async ({ t }) => {
      const [source, elsewhere] = [freshFolder(), freshFolder()];
      const outside = ['by-link', 'by-name'].map((name) => join(elsewhere, name));
      for (const path of outside) writeFileSync(path, 'not yours', { mode: 0o400 });
      symlinkSync(outside[0]!, join(source, 'link'));
      linkSync(outside[1]!, join(source, 'second-name'));
      mkdirSync(join(source, 'below'), { mode: 0o700 });
      writeFileSync(join(source, 'below', 'deep'), 'not yours', { mode: 0o400 });
      const untouched = [...outside, join(source, 'below'), join(source, 'below', 'deep')];
      const before = untouched.map((path) => statSync(path).uid);
      await t.idle({ mounts: [owned(source, true)] });
      expect(untouched.map((path) => statSync(path).uid)).toEqual(before);
      expect(readdirSync(source).sort()).toEqual(['below', 'link', 'second-name']);
    });
  });
}

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'carrel-own-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

function owned(source: string, readonly: boolean): Mount {
  return { kind: 'bind', source, target, readonly, own: true };
}

/** User, group and mode as agent sees them. */
async function owners(t: Trial, made: Made, names: readonly string[]): Promise<string[]> {
  const paths = names.map((name) => `${target}/${name}`);
  const { stdout } = await t.run(made, ['stat', '-c', '%U %G %a', ...paths]);
  return stdout.toString().trimEnd().split('\n');
}
