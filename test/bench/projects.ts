/**
 * Generated repositories for the bench, each made once a run and removed at its end. Nothing is removed before: ext4 is
 * slow to make files where it freed many in the last minutes.
 */
import { spawn } from 'node:child_process';
import { once as next } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cleanup } from './cleanup.ts';
import { heavyMs } from './inside.ts';
import { output } from './program.ts';
import { elapsed } from './sample.ts';

/** Git ignores files that are put into this folder later. */
export const ignoredFolder = 'ignored';

/** A word in a few files of each project. */
export const rareWord = 'heliotrope';

/** A plain copy of a project, and how long it took. */
export interface Copy {
  readonly path: string;
  readonly ms: number;
}

const removeMs = 600_000;

export class Projects {
  readonly #folder = mkdtempSync(join(tmpdir(), 'carrel-bench-projects-'));
  readonly #projects = new Map<number, Promise<string>>();
  readonly #copies = new Map<number, Promise<Copy>>();
  #count = 0;

  /** Opened before the objects that work on projects, so that the cleanup removes the projects last. */
  static open(cleanup: Cleanup): Projects {
    const projects = new Projects();
    chmodSync(projects.#folder, 0o755);
    cleanup.add('the projects', () => remove(projects.#folder));
    return projects;
  }

  /** A repository with this many small files, all of them committed. */
  project(files: number): Promise<string> {
    return once(this.#projects, files, async () => {
      const path = this.path('project');
      await makeProject(path, files);
      return path;
    });
  }

  copy(files: number): Promise<Copy> {
    return once(this.#copies, files, async () => {
      const [project, path] = [await this.project(files), this.path('copy')];
      return { path, ms: await elapsed(() => output(['cp', '-a', '--', project, path], heavyMs)) };
    });
  }

  /** A new path, at which no file exists yet. */
  path(name: string): string {
    this.#count += 1;
    return join(this.#folder, `${name}-${this.#count}`);
  }
}

function once<K, V>(known: Map<K, Promise<V>>, key: K, make: () => Promise<V>): Promise<V> {
  const value = known.get(key) ?? make();
  known.set(key, value);
  return value;
}

async function remove(path: string): Promise<void> {
  await output(['rm', '-rf', '--', path], removeMs);
}

/** Git itself writes the files, so its index is current afterwards. */
async function makeProject(folder: string, files: number): Promise<void> {
  mkdirSync(folder);
  const git = ['git', '-C', folder, '-c', 'core.compression=0', '-c', 'checkout.workers=0'] as const;
  await output([...git, 'init', '--quiet', '--initial-branch', 'main'], heavyMs);
  await feed([...git, 'fast-import', '--quiet', '--depth=0'], commitOf(files));
  await output([...git, 'reset', '--quiet', '--hard'], heavyMs);
}

async function feed(argv: readonly string[], input: string): Promise<void> {
  const child = spawn(argv[0]!, argv.slice(1), { stdio: ['pipe', 'ignore', 'inherit'] });
  const ended = next(child, 'close');
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  const [code] = await ended;
  if (code !== 0) throw new Error(`${argv.join(' ')} exited with ${code}`);
}

function commitOf(files: number): string {
  const head = 'commit refs/heads/main\ncommitter Bench <bench@localhost> 1700000000 +0000\ndata 5\nfirst\n';
  const ignored = fileOf('.gitignore', `${ignoredFolder}/\n`);
  return [head, ignored, ...Array.from({ length: files - 1 }, (_, index) => fileOf(pathOf(index), textOf(index)))].join(
    '',
  );
}

/** Twenty files to a folder, four folders deep. */
function pathOf(index: number): string {
  const [part, group, unit] = [index / 1000, index / 100, index / 20].map(Math.floor);
  return `src/part-${part}/group-${group}/unit-${unit}/file-${index}.ts`;
}

function textOf(index: number): string {
  const line = `export const value${index} = (text: string): string => text.trim() + '${index}';\n`;
  return `${index % 500 === 0 ? `// ${rareWord}\n` : ''}${line.repeat(1 + (index % 12))}`;
}

function fileOf(path: string, text: string): string {
  return `M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
}
