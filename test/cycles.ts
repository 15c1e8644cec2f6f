/** Import cycles, of values and of types, on source text. */
import { dirname, join } from 'node:path/posix';
import { importsOf, type Tree } from './layering.ts';

/** Each group of files that import each other in a circle, as one line. */
export function cycles(tree: Tree): string[] {
  const search = new Search(edgesOf(tree));
  for (const path of tree.keys()) search.visit(path);
  return search.found.map((files) => `these files import each other: ${files.sort().join(', ')}`).sort();
}

function edgesOf(tree: Tree): ReadonlyMap<string, readonly string[]> {
  const files = [...tree].filter(([path]) => !path.endsWith('.test.ts'));
  return new Map(
    files.map(([path, source]) => [
      path,
      importsOf(source)
        .filter(({ specifier }) => specifier.startsWith('.'))
        .map(({ specifier }) => join(dirname(path), specifier)),
    ]),
  );
}

/** Tarjan's strongly connected components. */
class Search {
  readonly found: string[][] = [];
  readonly #edges: ReadonlyMap<string, readonly string[]>;
  readonly #order = new Map<string, number>();
  readonly #lowest = new Map<string, number>();
  readonly #stack: string[] = [];

  constructor(edges: ReadonlyMap<string, readonly string[]>) {
    this.#edges = edges;
  }

  visit(path: string): void {
    if (this.#order.has(path)) return;
    const order = this.#order.size;
    this.#order.set(path, order);
    this.#lowest.set(path, order);
    this.#stack.push(path);
    for (const next of this.#edges.get(path) ?? []) this.#follow(path, next);
    if (this.#lowest.get(path) === order) this.#close(path);
  }

  #follow(path: string, next: string): void {
    this.visit(next);
    if (!this.#stack.includes(next)) return;
    this.#lowest.set(path, Math.min(this.#lowest.get(path)!, this.#lowest.get(next)!));
  }

  #close(path: string): void {
    const files = this.#stack.splice(this.#stack.indexOf(path));
    if (files.length > 1 || this.#edges.get(path)?.includes(path)) this.found.push(files);
  }
}
