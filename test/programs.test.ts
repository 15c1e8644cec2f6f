/** The programs that `scripts/build.mjs` bundles: each file that a program opens costs time at every start. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

function imported(file: string): string[] {
  const found = readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^'"]*?["']([^"']+)["'];$/gm);
  return [...found].map(([, specifier]) => specifier!).filter((specifier) => !isBuiltin(specifier));
}

/** The files that Node reads before it runs the first line of the program, and the packages. */
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

interface Program {
  readonly name: string;
  readonly source: string;
  readonly cached?: boolean;
}

const { programs, programFile } = (await import(join(import.meta.dirname, '../scripts/programs.mjs'))) as {
  readonly programs: readonly Program[];
  programFile(program: Program): string;
};

test.each(programs)('$name is one file', (program) => {
  const [, ...others] = loaded(join('dist/program', programFile(program)));
  expect(others.filter((one) => !['koffi', 'better-sqlite3'].includes(one))).toEqual([]);
});

test('the build has the programs of the table and no others', () => {
  const scripts = programs.flatMap((program) =>
    program.cached ? [`${program.name}.script.js`, `${program.name}.script.js.cache`] : [],
  );
  expect(readdirSync('dist/program').sort()).toEqual([...programs.map(programFile), ...scripts].sort());
});

/** Names of programs in the code, as `programFile` and `programThread` get them. */
const named = /\b(?:programFile|programThread)\(\s*'([^']+)'/g;

test('the code names only programs of the table, and none by the path of its source', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => readFileSync(join('src', path), 'utf8'));
  const names = sources.flatMap((source) => [...source.matchAll(named)].map(([, name]) => name!));
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => programs.every((program) => program.name !== name))).toEqual([]);
  expect(sources.flatMap((source) => source.match(/join\(dist, '[^']*\.c?js'/g) ?? [])).toEqual([]);
});

const cached = programs.filter((program) => program.cached).map(({ name }) => `${name}.script.js`);

/** A Node with another V8 than that of the build refuses the caches, and compiles. */
const { v8 } = JSON.parse(readFileSync('dist/build.json', 'utf8')) as { v8: string };
const isRefused = v8 !== process.versions.v8;

test.each(cached)('V8 accepts the code cache of %s, another V8 does not, and other code does not get it', (name) => {
  const path = join('dist/program', name);
  const source = readFileSync(path, 'latin1');
  const cache = readFileSync(`${path}.cache`);
  const [checksum, ...rest] = source.split('\n');
  expect(checksum).toBe(`// ${createHash('sha256').update(rest.join('\n')).digest('hex')}`);
  expect(cache.toString('latin1', 0, checksum!.length + 1)).toBe(`${checksum}\n`);
  expect(source).not.toMatch(/[^\0-\x7f]|\bimport\(["'][\w@]/);
  // The check runs in a process with the flags that programs have: V8 compares them.
  const check = `const {readFileSync} = require('node:fs');
    const source = readFileSync(process.argv[1], 'latin1');
    const cachedData = readFileSync(process.argv[1] + '.cache').subarray(source.indexOf('\\n') + 1);
    console.log(new (require('node:vm').Script)(source, { cachedData }).cachedDataRejected);`;
  expect(spawnSync(process.execPath, ['-e', check, path], { encoding: 'utf8' }).stdout).toBe(`${isRefused}\n`);
});

test('a program with a cache of other code, or none, runs without it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'programs-'));
  try {
    const run = (source: string, cache: string | null) => {
      writeFileSync(
        join(folder, 'it.script.js'),
        `// sum\n(function (exports, require, module, file, folder, importPackage) {${source}\n})\n`,
      );
      if (cache !== null) writeFileSync(join(folder, 'it.script.js.cache'), cache);
      copyFileSync('scripts/program.mjs', join(folder, 'it.js'));
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
      const { stdout, stderr } = spawnSync(process.execPath, [join(folder, 'it.js')], { encoding: 'utf8' });
      return stdout + stderr;
    };
    expect(run("console.log('none')", null)).toBe('none\n');
    expect(run("console.log('other')", '// other\nxxxx')).toBe('other\n');
    expect(run("console.log('broken')", '// sum\nxxxx')).toBe('broken\n');
    expect(run("importPackage('node:os').then(({ EOL }) => console.log(EOL.length))", null)).toBe('1\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
