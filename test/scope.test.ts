/** SCOPE.md lists every noun and every extra, and core imports no extra. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { staircase } from './house.ts';
import { exceptions } from './house-exceptions.ts';

const scope = readFileSync('SCOPE.md', 'utf8');
const [, core = '', extras = ''] = scope.split(/^## (?:Core|Extras|Out)$/m);

it('SCOPE.md names each noun as core', () => {
  expect(staircase.filter((noun) => !new RegExp(`\\b${noun}\\b`).test(core))).toEqual([]);
});

it('SCOPE.md names each folder of src/extra as an extra', () => {
  const folders = readdirSync('src/extra');
  expect(folders.length).toBeGreaterThan(0);
  expect(folders.filter((folder) => !extras.includes(`\`src/extra/${folder}\``))).toEqual([]);
});

it('no exception to the import rules leads from core to an extra', () => {
  expect(exceptions.filter((arrow) => / → src\/extra\//.test(arrow))).toEqual([]);
});
