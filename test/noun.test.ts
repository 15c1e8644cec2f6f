/** How many files outside of a noun import that noun. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { describe, expect, it } from 'vitest';
import { importsOf } from './layering.ts';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => ({ path, source: readFileSync(join('src', path), 'utf8') }));

/** The files that a noun with a grant registers itself in, as CONTRIBUTING says under "A noun". */
const registered = ['app/app.ts', 'cli/commands.ts', 'daemon/noun-wiring.ts', 'model/noun-table.ts'];

/** The files that import a noun. Its own files are those of its folders, and files of shared folders with its name. */
function importers(noun: string, also: readonly string[] = []): string[] {
  const names = [noun, ...also].join('|');
  const own = new RegExp(
    `^((${names})/|(app|cli|agent)/(${names})/|(model|api|launch|daemon)/(${names})(-[a-z-]+)?\\.ts$)`,
  );
  const isOwn = (path: string) => own.test(path);
  const importsIt = ({ path, source }: (typeof files)[number]) =>
    importsOf(source).some(({ specifier }) => specifier.startsWith('.') && isOwn(join(dirname(path), specifier)));
  return files
    .filter((file) => !isOwn(file.path) && importsIt(file))
    .map(({ path }) => path)
    .sort();
}

describe('nouns with grants for sandboxes:', () => {
  it('share is imported only by the files that register nouns', () => {
    expect(importers('share')).toEqual(registered);
  });

  it('room is also imported by features about two nouns: fleets, the hub, the disk and notes', () => {
    expect(importers('room', ['mention', 'webhook'])).toEqual(
      [
        ...registered,
        ...['api/fleet.ts', 'fleet/fleet.ts', 'fleet/room-schema.ts', 'fleet/watch.ts'],
        ...['app/hub/hub-rooms.ts', 'app/hub/tool/room.ts', 'daemon/environment-wiring.ts'],
        ...['app/disk/measure.ts', 'cli/memory/note-text.ts'],
      ].sort(),
    );
  });

  it('memory is also imported by features about two nouns: the hub, the bank and Chroma', () => {
    expect(importers('memory', ['chroma'])).toEqual(
      [
        ...registered,
        ...['app/hub/hub-memory.ts', 'app/hub/tool/memory.ts', 'daemon/environment-wiring.ts'],
        ...['agent/bank/main.ts', 'app/bank/sandbox-bank.ts', 'launch/compose.ts'],
        // A volume contains the files of Chroma.
        'daemon/wiring.ts',
      ].sort(),
    );
  });

  it('memoryScopes is named only by files of the memory and by two tables', () => {
    const naming = files.filter(
      ({ path, source }) => /memoryScopes?\b/.test(source) && !/(memory|chroma)[^/]*\.ts$|\/memory\//.test(path),
    );
    expect(naming.map(({ path }) => path).sort()).toEqual(['daemon/noun-wiring.ts', 'model/noun-table.ts']);
  });
});
