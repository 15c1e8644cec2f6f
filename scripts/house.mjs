// npm run house: the size of the house (ARCHITECTURE.md) in files and lines, without tests and fakes, by part and floor, and
// the number of imports that break its rules. npm run house -- walks: the files that usual commands pass through
// (scripts/house-walks.mjs).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const floors = ['model', 'api', 'mechanism', 'app', 'cli', 'inside'];

if (process.argv[2] === 'walks') await import('./house-walks.mjs');
else printSizes();

function printSizes() {
  const files = sources();
  const parts = groupBy(files, partOf);
  const rows = [...parts].map(([part, own]) => [part, ...cells(own, part)]).sort(([a], [b]) => (a < b ? -1 : 1));
  printTable([['', 'files', 'lines', ...floors], ...rows, ['all', ...cells(files, 'all')]]);
  const nouns = readdirSync('src/noun', { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const sizes = files.map(({ lines }) => lines).sort((a, b) => a - b);
  console.log(`\nentries of src: ${readdirSync('src').length}; nouns: ${nouns.length}`);
  console.log(`median file: ${sizes[Math.floor(sizes.length / 2)]} lines; longest: ${sizes.at(-1)}`);
  console.log(`exceptions to the arrows: ${exceptions()}`);
}

/** All files of src but tests and fakes, which lie beside what they replace. */
function sources() {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.c?ts$/.test(path))
    .filter((path) => !/\.test\.ts$|(^|\/)(fake(-[a-z]+)*|failing)\.ts$|\/fake\//.test(path))
    .map((path) => ({ path, lines: readFileSync(join('src', path), 'utf8').replace(/\n$/, '').split('\n').length }));
}

/** `noun/room`, `kernel/store`, `lib`; the files directly in `noun` are its tables. */
function partOf({ path }) {
  const [area, unit, rest] = path.split('/');
  if (!['noun', 'kernel', 'extra'].includes(area)) return area;
  return rest === undefined ? `${area} (tables)` : `${area}/${unit}`;
}

function groupBy(items, keyOf) {
  const groups = new Map();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

/** Files and lines, and for what has floors the same for each of them. */
function cells(files, part) {
  const count = (some) => some.reduce((sum, { lines }) => sum + lines, 0);
  const all = [files.length, count(files)];
  if (!/^(noun|extra)\/|^all$/.test(part)) return [...all, ...floors.map(() => '')];
  const onFloor = floors.map((floor) => files.filter(({ path }) => floorOf(path) === floor));
  return [...all, ...onFloor.map((some) => (some.length === 0 ? '' : `${some.length} / ${count(some)}`))];
}

function floorOf(path) {
  const [area, , first, ...rest] = path.split('/');
  if (!['noun', 'extra'].includes(area) || first === undefined) return null;
  const floor = rest.length === 0 ? first.replace(/^(model|api)\.ts$/, '$1') : first;
  return floors.includes(floor) ? floor : 'mechanism';
}

function exceptions() {
  return readFileSync('test/house-exceptions.ts', 'utf8').match(/^ {2}'.* → .*',$/gm)?.length ?? 0;
}

function printTable(rows) {
  const widths = rows[0].map((_, at) => Math.max(...rows.map((row) => String(row[at]).length)));
  for (const row of rows) {
    const cell = (value, at) => (at === 0 ? String(value).padEnd(widths[at]) : String(value).padStart(widths[at]));
    console.log(row.map(cell).join('  ').trimEnd());
  }
}
