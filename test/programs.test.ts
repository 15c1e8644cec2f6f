/** What `scripts/build.mjs` puts together: every file that a program has to open costs each of its starts time. */
import { readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

function imported(file: string): string[] {
  const found = readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^'"]*?["']([^"']+)["'];$/gm);
  return [...found].map(([, specifier]) => specifier!).filter((specifier) => !isBuiltin(specifier));
}

/** The files that are read before the first line of the program runs, and the packages. */
function loaded(file: string, found: string[] = []): string[] {
  found.push(file);
  for (const specifier of imported(file)) {
    const next = specifier.startsWith('.') ? join(dirname(file), specifier) : specifier;
    if (found.includes(next)) continue;
    if (specifier.startsWith('.')) loaded(next, found);
    else found.push(next);
  }
  return found;
}

test.each(JSON.parse(readFileSync('scripts/programs.json', 'utf8')) as string[])('%s is one file', (program) => {
  const [, ...others] = loaded(`dist/${program}.js`);
  expect(others.filter((one) => !['koffi', 'better-sqlite3'].includes(one))).toEqual([]);
});
