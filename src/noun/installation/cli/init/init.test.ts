import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readYaml } from '../../../../lib/text/yaml.ts';
import { declare } from '../../../project/fleet/declare.ts';
import { draft } from './draft.ts';
import { survey } from './survey.ts';

let folder: string;
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'carrel-init-')), 'My Projects');
  mkdirSync(folder);
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true }));

function put(path: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), '');
}

const declared = () => declare(readYaml(draft(survey(folder)), 'carrel.yaml').content, folder);

it('survey finds projects by files of package managers and git, in order', () => {
  for (const path of ['web/package.json', 'web/requirements.txt', 'cli/Cargo.toml', 'docs/a.md', '.hidden/go.mod'])
    put(path);
  mkdirSync(join(folder, 'lib/.git'), { recursive: true });
  symlinkSync(join(folder, 'web'), join(folder, 'again'));
  expect(survey(folder)).toEqual({
    name: 'my-projects',
    projects: [
      { id: 'cli', path: './cli', traits: ['Rust'] },
      { id: 'lib', path: './lib', traits: ['git'] },
      { id: 'web', path: './web', traits: ['Node.js', 'Python'] },
    ],
  });
});

it('if the folder itself is a project, no other project is found', () => {
  for (const path of ['go.mod', 'sub/package.json']) put(path);
  expect(survey(folder).projects).toEqual([{ id: 'my-projects', path: '.', traits: ['Go'] }]);
  expect(declared().sandboxes).toMatchObject([{ name: 'my-projects', project: { path: folder } }]);
});

it('a folder without projects gets a sandbox without a project', () => {
  expect(declared()).toMatchObject({ name: 'my-projects', projects: {}, sandboxes: [{ name: 'desk', project: null }] });
});

it('the drafted file declares folders with any name', () => {
  const names = [
    'null',
    'true',
    '123',
    '1e3',
    'on',
    'a: b',
    'a #b',
    "it's",
    '"q"',
    '$HOME',
    '$\x7bX}',
    '- x',
    'Ünï',
    'x y',
    '日本',
    '&a',
    '*a',
    '!t',
    '%p',
    '@a',
    '`b',
  ];
  for (const name of names) put(`${name}/go.mod`);
  put('two\nlines/go.mod');
  const { projects, sandboxes } = declared();
  expect(Object.values(projects).sort()).toEqual(names.map((name) => join(folder, name)).sort());
  expect(sandboxes.map(({ project }) => project!.path).sort()).toEqual(Object.values(projects).sort());
});

it('two drafts of the same folder are equal', () => {
  for (const name of ['b', 'a', 'c']) put(`${name}/go.mod`);
  expect(draft(survey(folder))).toBe(draft(survey(folder)));
  expect(draft(survey(folder))).toMatch(/^# yaml-language-server: \$schema=\.carrel\/carrel\.schema\.json\n/);
});
