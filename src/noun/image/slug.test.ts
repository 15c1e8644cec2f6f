import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Anchor } from '../../lib/file/anchor.ts';
import { slugOf, slugOfRemote, withHash } from './slug.ts';

it.each([
  ['https://github.com/acme/Shop.git', 'acme-shop'],
  ['https://user:token@example.com:8443/a/b/acme/shop/', 'acme-shop'],
  ['git@github.com:acme/shop.git', 'acme-shop'],
  ['git@github.com:shop', 'shop'],
  ['ssh://git@example.com/acme/shop.git?x#y', 'acme-shop'],
  ['/srv/git/shop.git', 'git-shop'],
  ['../shop', 'shop'],
  ['https://x/$(rm -rf ~)/`id`', 'rm-rf-id'],
  ['https://x/a;b/../../etc/passwd', 'etc-passwd'],
  ['https://x/--from=evil/-t', 'from-evil-t'],
  ['https://x/ünï/çödé', 'n-d'],
  [`https://x/${'a'.repeat(99)}/b`, 'a'.repeat(48)],
  ['https://x/', ''],
  ['\u0000\n', ''],
])('the slug of the remote %j is %j', (remote, slug) => {
  expect(slugOfRemote(remote)).toBe(slug);
});

describe('a project', () => {
  let folder: string;
  let root: Anchor;
  beforeEach(() => {
    folder = join(mkdtempSync(join(tmpdir(), 'carrel-slug-')), 'My Project');
    mkdirSync(join(folder, '.git'), { recursive: true });
    root = Anchor.open(folder);
  });
  afterEach(() => {
    root.close();
    rmSync(join(folder, '..'), { recursive: true });
  });
  const config = (text: string) => writeFileSync(join(folder, '.git/config'), text);

  it('is named after origin, or the first remote', () => {
    config(
      '[core]\n\turl = https://x/not/this\n[remote "up"]\n\turl = https://x/up/shop\n[remote "origin"]\n\tURL = "https://x/acme/shop"\n',
    );
    expect(slugOf(folder, root)).toBe('acme-shop');
    config('[remote "up"]\n\tfetch = x\n\turl = https://x/up/shop\n');
    expect(slugOf(folder, root)).toBe('up-shop');
  });

  it('is otherwise named after its folder, and other folders may have the same name', () => {
    const own = withHash('my-project', folder);
    expect(own).toMatch(/^my-project-[0-9a-f]{8}$/);
    expect(slugOf(folder, root)).toBe(own);
    config('[remote "origin"]\n\turl = https://x/\n');
    expect(slugOf(folder, root)).toBe(own);
    rmSync(join(folder, '.git'), { recursive: true });
    writeFileSync(join(folder, '.git'), 'gitdir: /elsewhere\n');
    expect(slugOf(folder, root)).toBe(own);
  });

  it('is not read through a link', () => {
    rmSync(join(folder, '.git'), { recursive: true });
    mkdirSync(join(folder, '../other'));
    writeFileSync(join(folder, '../other/config'), '[remote "origin"]\n\turl = https://x/acme/shop\n');
    symlinkSync('../other', join(folder, '.git'));
    expect(slugOf(folder, root)).toBe(withHash('my-project', folder));
  });
});
