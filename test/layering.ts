/**
 * The rules of the source, checked on its text: the arrows of the house (`house.ts`), which packages which file may load, the
 * length of files, and no shells.
 */
import { dirname, join } from 'node:path/posix';
import { brokenRule } from './house.ts';

/** Source text by path, relative to the root of the repository. */
export type Tree = ReadonlyMap<string, string>;

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

/** The files, or the folders, that may import a package. */
const owners: Readonly<Record<string, readonly string[]>> = {
  koffi: ['src/lib/sys/libc.ts'],
  'better-sqlite3': ['src/lib/data/sqlite.ts'],
  dockerode: ['src/kernel/engine/docker/connection/connection.ts'],
  // Agents are tested with it.
  '@agentclientprotocol/sdk': [],
  '@modelcontextprotocol/server': ['src/noun/hub/'],
};
const heavy = ['zod', 'hono', '@hono/node-server', 'koffi', 'better-sqlite3', 'dockerode', 'pino'];
const light = /^src\/((client|inside|(noun|extra)\/[^/]+\/(cli|inside))\/.*|lib\/wire\/(api|stream))\.ts$/;
const maxLines = 350;

/** Every breach, one line each, naming the file and the rule. */
export function breaches(tree: Tree): string[] {
  return [...tree].flatMap(([path, source]) => [
    ...tooLong(path, source),
    ...(path.endsWith('.test.ts')
      ? []
      : [
          ...wrongArrows(path, source),
          ...wrongOwner(path, source),
          ...heavyReach(path, tree),
          ...shells(path, source),
        ]),
  ]);
}

/**
 * Imports in the order of the text. `import { type A }` counts as a value import, as it does for Node: the module is
 * loaded. So does `import('…')`.
 */
export function importsOf(source: string): Import[] {
  const fixed = /^(?:import|export)\s+(type\s+)?(?:[\w$*{},\s]+?\sfrom\s+)?['"]([^'"]+)['"]/gm;
  const called = /\b(?:import|require)\(\s*['"]([^'"]+)['"]/g;
  return [
    ...[...source.matchAll(fixed)].map((match) => ({ specifier: match[2]!, typeOnly: match[1] !== undefined })),
    ...[...source.matchAll(called)].map((match) => ({ specifier: match[1]!, typeOnly: false })),
  ];
}

function tooLong(path: string, source: string): string[] {
  const lines = source.replace(/\n$/, '').split('\n').length;
  return lines > maxLines ? [`${path}: ${lines} lines; look for the seam, ${maxLines} is the most`] : [];
}

function wrongArrows(path: string, source: string): string[] {
  if (isFake(path)) return [];
  return importsOf(source)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .flatMap(({ specifier, typeOnly }) => {
      const to = target(path, specifier);
      const rule = to.endsWith('.test.ts') || isFake(to) ? 'only tests do' : brokenRule(path, to, typeOnly);
      return rule === null ? [] : [`${path}: may not import ${to} (${rule})`];
    });
}

/** Stand-ins for tests lie beside what they replace, and count as tests. */
function isFake(path: string): boolean {
  return /(^|\/)fake(-[a-z]+)*\.ts$/.test(path);
}

function target(path: string, specifier: string): string {
  return join(dirname(path), specifier);
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function wrongOwner(path: string, source: string): string[] {
  return valueImports(source)
    .map(packageOf)
    .filter((name) => owners[name]?.some((owner) => path.startsWith(owner)) === false)
    .map((name) => `${path}: only ${owners[name]?.join(' and ') || 'tests'} may import ${name}`);
}

/** The command line and the adapter start quickly because they can load no heavy package. */
function heavyReach(path: string, tree: Tree): string[] {
  if (!light.test(path)) return [];
  return [...reached(path, tree)]
    .filter(([name]) => heavy.includes(name))
    .map(([name, by]) => `${path}: reaches ${name} through ${by}`);
}

/** Every package that loading a file can load, with the file that names it. */
function reached(start: string, tree: Tree): Map<string, string> {
  const packages = new Map<string, string>();
  const files = new Set([start]);
  for (const file of files) {
    for (const specifier of valueImports(tree.get(file) ?? '')) {
      if (specifier.startsWith('.')) files.add(target(file, specifier));
      else packages.set(packageOf(specifier), file);
    }
  }
  return packages;
}

function valueImports(source: string): string[] {
  return importsOf(source)
    .filter(({ typeOnly }) => !typeOnly)
    .map(({ specifier }) => specifier);
}

/** Commands are argv arrays: no `exec`, no `shell` option, and no import that would hide them from this check. */
function shells(path: string, source: string): string[] {
  const clause = /^import\s+([\w$*{},\s]+?)\sfrom\s+['"](?:node:)?child_process['"]/m.exec(source)?.[1];
  const found = [
    clause !== undefined && /\bexec(Sync)?\b/.test(clause) && 'imports exec from node:child_process',
    clause !== undefined && !clause.startsWith('{') && !clause.startsWith('type') && 'imports node:child_process whole',
    (clause === undefined ? /\bshell:\s*true\b/ : /\bshell:\s*(?!false\b)\S/).test(source) && 'runs a shell',
  ];
  return found
    .filter((what) => what !== false)
    .map((what) => `${path}: ${what}; give an argv array to spawn or execFile`);
}
