/**
 * The arrows of the architecture, checked on source text.
 *
 *   model ← lib ← parts ← launch ← reconcile ← job ← app ← server ← daemon        model ← api ← {cli job app server}
 *
 * A part is any folder of src that is not named above. Parts never import each other; only `agent` imports `lsp`. Nouns,
 * the folders of `app`, import only types of each other. `launch` and `reconcile` import the contract of a part
 * (`store/store.ts`) or its types; the layers above them import any of its code. One arrow goes up: the types of routes in
 * `api/routes.ts` come from the declarations in `app/app.ts`. Tests beside the source may import any file.
 */
import { dirname, join } from 'node:path/posix';

/** Source text by path, relative to the root of the repository. */
export type Tree = ReadonlyMap<string, string>;

interface Import {
  readonly specifier: string;
  readonly typeOnly: boolean;
}

const layers = ['model', 'lib', 'launch', 'reconcile', 'api', 'cli', 'job', 'app', 'server', 'daemon'];
const below: Readonly<Record<string, readonly string[]>> = {
  model: [],
  lib: ['model'],
  launch: ['model', 'lib'],
  reconcile: ['model', 'lib', 'launch'],
  api: ['model', 'lib'],
  job: ['model', 'lib', 'launch', 'reconcile', 'api'],
  app: ['model', 'lib', 'launch', 'reconcile', 'api', 'job'],
  server: ['model', 'lib', 'launch', 'reconcile', 'api', 'job', 'app'],
  // The program in a project's sandbox is the client of its language servers.
  agent: ['model', 'lib', 'lsp'],
  // A permission hook is answered without a daemon.
  cli: ['model', 'lib', 'api', 'policy'],
};
/** Layers that import contracts and types of parts only. */
const byContract = ['launch', 'reconcile'];
/** Layers that import any code of parts. */
const byCode = ['job', 'app', 'server'];

/** The files, or the folders, that may import a package. */
const owners: Readonly<Record<string, readonly string[]>> = {
  koffi: ['src/lib/libc.ts'],
  'better-sqlite3': ['src/lib/sqlite.ts'],
  dockerode: ['src/engine/docker/connection.ts'],
  '@agentclientprotocol/sdk': ['src/agent/kind/acp.ts'],
  '@modelcontextprotocol/server': ['src/hub/'],
};
const heavy = ['zod', 'hono', '@hono/node-server', 'koffi', 'better-sqlite3', 'dockerode', 'pino'];
const light = /^src\/((cli|agent)\/.*|api\/(api|client|stream))\.ts$/;
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
  return importsOf(source)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .filter((one) => !mayImport(path, target(path, one.specifier), one.typeOnly))
    .map(({ specifier }) => `${path}: may not import ${target(path, specifier)}`);
}

function mayImport(from: string, to: string, typeOnly: boolean): boolean {
  if (to.endsWith('.test.ts')) return false;
  const [source, destination] = [folderOf(from), folderOf(to)];
  if (source === null || destination === null) return false;
  if (source === 'daemon') return true;
  if (source === 'app' && destination === 'app') return typeOnly || isSameNoun(from, to);
  if (source === destination) return true;
  if (from === 'src/api/routes.ts' && to === 'src/app/app.ts') return typeOnly;
  if ((below[source] ?? ['model', 'lib']).includes(destination)) return true;
  if (!isPart(destination)) return false;
  return byCode.includes(source) || (byContract.includes(source) && (typeOnly || isContract(to)));
}

/**
 * The wiring gives a noun the objects of other nouns, so the noun imports only their types. `app.ts` lists all nouns.
 */
function isSameNoun(from: string, to: string): boolean {
  const [source, destination] = [nounOf(from), nounOf(to)];
  return source === null || destination === null || source === destination;
}

/** Null: a file of `app` that belongs to no noun. */
function nounOf(path: string): string | null {
  return /^src\/app\/([^/]+)\//.exec(path)?.[1] ?? null;
}

/** The folder of src that a file is in; null outside of src and directly in it. */
function folderOf(path: string): string | null {
  return /^src\/([^/]+)\//.exec(path)?.[1] ?? null;
}

function isPart(folder: string): boolean {
  return !layers.includes(folder);
}

function isContract(path: string): boolean {
  const folder = folderOf(path);
  return path === `src/${folder}/${folder}.ts`;
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
    .map((name) => `${path}: only ${owners[name]?.join(' and ')} may import ${name}`);
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
