/** Finds projects in a folder by file names alone: no file is read and no link is followed. */
import { type Dirent, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

export interface FoundProject {
  readonly id: string;
  /** Relative to the folder that was searched. */
  readonly path: string;
  /** The languages and tools that the files show, and `git`. */
  readonly traits: readonly string[];
}

export interface Survey {
  readonly name: string;
  readonly projects: readonly FoundProject[];
}

const toolchains: readonly (readonly [trait: string, files: RegExp])[] = [
  ['Node.js', /^(package\.json|package-lock\.json|yarn\.lock|pnpm-lock\.yaml)$/],
  ['Python', /^(requirements\.txt|pyproject\.toml|setup\.py|Pipfile)$/],
  ['Rust', /^Cargo\.toml$/],
  ['Go', /^go\.mod$/],
  ['Java', /^(pom\.xml|build\.gradle(\.kts)?)$/],
  ['Ruby', /^Gemfile$/],
  ['PHP', /^composer\.json$/],
];

const maxProjects = 100;

/** Finds the folder itself if it is a project, else its subfolders that are projects. */
export function survey(folder: string): Survey {
  const name = idOf(basename(folder), 'fleet');
  const own = traitsOf(entriesOf(folder));
  if (own.length > 0) return { name, projects: [{ id: name, path: '.', traits: own }] };
  const found = entriesOf(folder)
    .filter((entry) => entry.isDirectory() && isPlain(entry.name))
    .map((entry) => ({ path: entry.name, traits: traitsOf(openEntries(join(folder, entry.name))) }))
    .filter(({ traits }) => traits.length > 0)
    .slice(0, maxProjects);
  const taken = new Set<string>();
  return { name, projects: found.map(({ path, traits }) => ({ id: freeId(path, taken), path: `./${path}`, traits })) };
}

function entriesOf(folder: string): Dirent[] {
  return readdirSync(folder, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** A folder that cannot be read is not a project, ignoring. */
function openEntries(folder: string): Dirent[] {
  try {
    return entriesOf(folder);
  } catch {
    return [];
  }
}

function traitsOf(entries: readonly Dirent[]): string[] {
  const files = entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
  const made = toolchains.filter(([, pattern]) => files.some((file) => pattern.test(file))).map(([trait]) => trait);
  return [...made, ...(entries.some((entry) => entry.name === '.git' && !entry.isSymbolicLink()) ? ['git'] : [])];
}

/** Hidden folders and dependencies are not projects. A folder with an odd name is skipped; users can add it by hand. */
function isPlain(name: string): boolean {
  return !name.startsWith('.') && name !== 'node_modules' && !/[\x00-\x1f\x7f\ufffd]/.test(name);
}

function freeId(path: string, taken: Set<string>): string {
  const base = idOf(path, 'project');
  let id = base;
  for (let number = 2; taken.has(id); number++) id = `${base}-${number}`;
  taken.add(id);
  return id;
}

function idOf(text: string, fallback: string): string {
  const id = text
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^[-_]+|-+$/g, '')
    .slice(0, 50);
  return id === '' ? fallback : id;
}
