// @reads sources
/** Which files outside of a noun import it. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { describe, expect, it } from 'vitest';
import { importsOf } from './layering.ts';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => ({ path, source: readFileSync(join('src', path), 'utf8') }));

/** The files that a noun with a grant registers itself in, as CONTRIBUTING says under "A noun". */
const registered = ['kernel/daemon/noun-wiring.ts', 'noun/app.ts', 'noun/cli.ts', 'noun/rows.ts', 'noun/table.ts'];

function importers(noun: string): string[] {
  const folder = `noun/${noun}/`;
  const importsIt = ({ path, source }: (typeof files)[number]) =>
    importsOf(source).some(
      ({ specifier }) => specifier.startsWith('.') && join(dirname(path), specifier).startsWith(folder),
    );
  return files
    .filter((file) => !file.path.startsWith(folder) && importsIt(file))
    .map(({ path }) => path)
    .sort();
}

describe('nouns with grants for sandboxes:', () => {
  it('share is imported only by the files that register nouns', () => {
    expect(importers('share')).toEqual(registered);
  });

  it('room is also imported by features about two nouns: fleets, the hub, the disk and notes', () => {
    expect(importers('room')).toEqual(
      [
        ...registered,
        'noun/tools.ts',
        ...['noun/project/api/fleet.ts', 'noun/project/fleet/fleet.ts', 'noun/project/fleet/room-schema.ts'],
        ...['noun/project/fleet/watch.ts', 'noun/installation/app/disk/measure.ts'],
        ...['noun/hub/app/hub-rooms.ts', 'noun/hub/app/wiring.ts'],
      ].sort(),
    );
  });

  it('memoryScopes is named only by files of the memory and by two tables', () => {
    const naming = files.filter(
      ({ path, source }) => /memoryScopes?\b/.test(source) && !/^(noun\/memory|extra\/chroma)\//.test(path),
    );
    expect(naming.map(({ path }) => path).sort()).toEqual(['kernel/daemon/noun-wiring.ts', 'noun/table.ts']);
  });
});
