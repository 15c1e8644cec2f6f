/** Language servers of real projects: their answers are those of the server alone, and are never stale. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeMethods } from '../../src/noun/hub/inside/code/code.ts';
import { readDocument } from '../../src/noun/hub/inside/file/document.ts';
import { WrittenLocations } from '../../src/noun/hub/inside/lsp/answer/location-list.ts';
import { knownServers } from '../../src/noun/hub/inside/lsp/known.ts';
import { Servers } from '../../src/noun/hub/inside/lsp/servers.ts';
import type { CodeMethods, CodePosition } from '../../src/noun/hub/model/code.ts';
import { BareServer } from '../fixtures/bare-server.ts';
import { isRepeated } from '../harness/machine.ts';

const modules = resolve('node_modules');
const signal = new AbortController().signal;
const page = { limit: 100, skip: 0, timeoutMs: 60_000 };
const undo: (() => unknown)[] = [];
const cache = mkdtempSync(join(tmpdir(), 'carrel-lsp-cache-'));
process.env.XDG_CACHE_HOME = cache;
undo.push(() => rmSync(cache, { recursive: true }));
afterAll(async () => {
  for (const one of undo.reverse()) await one();
});

class Project {
  readonly root = mkdtempSync(join(tmpdir(), 'carrel-lsp-'));
  readonly servers: Servers;
  /** Paths of the files that were read. */
  readonly reads: string[] = [];

  constructor(files: Readonly<Record<string, string>>, only?: string) {
    for (const [path, text] of Object.entries(files)) this.write(path, text);
    const specs = knownServers('/nowhere', modules).filter(({ name }) => only === undefined || name === only);
    const read = (path: string) => {
      this.reads.push(path);
      return readDocument(this.root, path);
    };
    this.servers = new Servers({ root: this.root, specs, read });
    undo.push(async () => {
      await this.servers.dispose();
      rmSync(this.root, { recursive: true });
    });
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  call<M extends keyof CodeMethods>(method: M, asked: CodeMethods[M][0]): Promise<CodeMethods[M][1]> {
    const run = codeMethods[method] as (...args: unknown[]) => Promise<CodeMethods[M][1]>;
    return run(this.root, asked, { signal, servers: this.servers });
  }

  async locate(kind: 'definition' | 'references', at: CodePosition, skip = 0): Promise<string[]> {
    const { status, items } = await this.call('code/locate', { kind, at, ...page, skip });
    expect(status).toBe('complete');
    return items.flatMap(({ path, places }) => places.map(([line, column]) => `${path}:${line}:${column}`));
  }

  async problems(path: string): Promise<string[]> {
    const { status, items } = await this.call('code/diagnose', { path, ...page });
    expect(status).toBe('complete');
    return items.filter(({ severity }) => severity === 'error').map(({ line, message }) => `${line}: ${message}`);
  }

  /**
   * The answer of the server alone, in the same form. `atLeast`: it answers with fewer places until it has read the
   * project.
   */
  async bare(
    command: readonly string[],
    method: string,
    path: string,
    languageId: string,
    line: number,
    column: number,
    atLeast = 0,
  ) {
    const server = await BareServer.start(this.root, command);
    try {
      await server.open(path, languageId);
      const position = { line: line - 1, character: column - 1 };
      const params = { position, context: { includeDeclaration: true } };
      const ask = () =>
        server.request<{ uri: string; range: { start: { line: number; character: number } } }[] | null>(
          path,
          method,
          params,
        );
      let found = await ask();
      while ((found?.length ?? 0) < atLeast) found = await ask();
      const root = server.uri('.');
      return found!
        .map(({ uri, range: { start } }) => `${uri.slice(root.length + 1)}:${start.line + 1}:${start.character + 1}`)
        .sort();
    } finally {
      server.stop();
    }
  }
}

it('the TypeScript language server fetches no types of packages', async () => {
  const project = new Project({
    'package.json': '{"dependencies":{"lodash":"4"}}',
    'main.js': "const chunk = require('lodash');\nchunk();\n",
    'bin/npm': '#!/bin/sh\necho "$@" >> "$(dirname "$0")/ran"\n',
  });
  chmodSync(join(project.root, 'bin/npm'), 0o755);
  const path = process.env.PATH;
  process.env.PATH = `${join(project.root, 'bin')}:${path}`;
  try {
    await project.locate('definition', { path: 'main.js', line: 2, column: 1 });
    await project.problems('main.js');
    await project.servers.dispose();
  } finally {
    process.env.PATH = path;
  }
  expect(readdirSync(join(project.root, 'bin'))).toEqual(['npm']);
});

describe('the TypeScript language server', () => {
  const mainText =
    "import { Cart } from './cart';\n\nexport function sum() {\n  return new Cart().total(1);\n}\nsum();\n";
  let project: Project;
  beforeAll(() => {
    project = new Project({
      'tsconfig.json': '{"compilerOptions":{"strict":true,"target":"es2022"},"include":["src"]}',
      'src/cart.ts':
        'export interface Priced {\n  total(count: number): number;\n}\nexport class Cart implements Priced {\n  total(count: number) {\n    return count;\n  }\n}\n',
      'src/main.ts': mainText,
    });
  });

  it('gives the answers of the server itself', async () => {
    const command = knownServers('/nowhere', modules)[0]!.commands[1]!;
    const at = { path: 'src/main.ts', line: 4, column: 22 };
    for (const kind of ['definition', 'references'] as const) {
      const bare = await project.bare(command, `textDocument/${kind}`, at.path, 'typescript', at.line, at.column);
      expect(bare.length).toBeGreaterThan(0);
      expect(await project.locate(kind, at)).toEqual(bare);
    }
  });

  it('gives the answers of the server itself, also from a list so long that only a page of it is parsed', async () => {
    const names = Array.from({ length: 40 }, (_, number) => `src/use-${number}.ts`);
    const uses = "import { price } from './price';\nexport const both = [price(1), price(2)];\n";
    const long = new Project({
      'tsconfig.json': '{"include":["src"]}',
      'src/price.ts': 'export const price = (count: number) => count;\n',
      ...Object.fromEntries(names.map((name) => [name, uses])),
    });
    const command = knownServers('/nowhere', modules)[0]!.commands[1]!;
    const at = { path: 'src/price.ts', line: 1, column: 14 };
    const bare = await long.bare(command, 'textDocument/references', at.path, 'typescript', at.line, at.column);
    expect(bare).toHaveLength(121);
    const context = { position: { line: 0, character: 13 }, context: { includeDeclaration: true } };
    const { result } = await long.servers.request(at.path, 'textDocument/references', context, { signal, ...page });
    expect(result).toBeInstanceOf(WrittenLocations);
    const pages = await Promise.all([0, 100].map((skip) => long.locate('references', at, skip)));
    expect(pages.map(({ length }) => length)).toEqual([100, 21]);
    expect(pages.flat().sort()).toEqual(bare);
  });

  it('answers every kind of question', async () => {
    const at = { path: 'src/main.ts', line: 4, column: 22 };
    expect(await project.call('code/hover', { at, ...page })).toMatchObject({
      status: 'complete',
      server: 'typescript',
      text: expect.stringContaining('Cart.total(count: number): number') as string,
    });
    const priced = { path: 'src/cart.ts', symbol: 'Priced/total' };
    expect((await project.call('code/locate', { kind: 'implementation', at: priced, ...page })).items).toMatchObject([
      { path: 'src/cart.ts', places: [[5, expect.any(Number), 5, expect.any(Number), expect.any(String)]] },
    ]);
    const cart = { path: 'src/main.ts', line: 4, column: 15 };
    expect((await project.call('code/locate', { kind: 'typeDefinition', at: cart, ...page })).items).toMatchObject([
      { path: 'src/cart.ts', places: [[4, 14, 4, 18, 'export class Cart implements Priced {']] },
    ]);
    expect(
      (await project.call('code/symbols', { path: 'src/cart.ts', ...page })).items.map(({ name, kind, line }) => [
        name,
        kind,
        line,
      ]),
    ).toEqual([
      ['Priced', 'interface', 1],
      ['Priced/total', 'method', 2],
      ['Cart', 'class', 4],
      ['Cart/total', 'method', 5],
    ]);
    expect(await project.call('code/search', { query: 'Cart', ...page })).toMatchObject({
      status: 'complete',
      servers: ['typescript'],
      errors: [],
      items: [{ name: 'Cart', path: 'src/cart.ts', line: 4 }],
    });
    expect(
      (await project.call('code/signature', { at: { path: 'src/main.ts', line: 4, column: 27 }, ...page })).items,
    ).toMatchObject([{ label: 'total(count: number): number', activeParameter: 0 }]);
    expect((await project.call('code/complete', { at, ...page })).items).toMatchObject([
      { label: 'total', kind: 'method' },
    ]);
    expect(
      (
        await project.call('code/calls', { at: { path: 'src/main.ts', symbol: 'sum' }, direction: 'outgoing', ...page })
      ).items.map(({ name }) => name),
    ).toContain('total');
    expect(
      (
        await project.call('code/calls', {
          at: { path: 'src/cart.ts', symbol: 'Cart/total' },
          direction: 'incoming',
          ...page,
        })
      ).items,
    ).toMatchObject([{ name: 'sum', line: 4, text: '  return new Cart().total(1);' }]);
  });

  it('returns an answer page by page', async () => {
    const asked = { kind: 'references' as const, at: { path: 'src/cart.ts', symbol: 'Cart' }, ...page, limit: 1 };
    const first = await project.call('code/locate', asked);
    const second = await project.call('code/locate', { ...asked, skip: 1 });
    expect([first.more, first.items.length, second.items[0]?.path]).toEqual([true, 1, 'src/main.ts']);
  });

  it('reads a file that an answer names once, and again when it has changed', async () => {
    const at = { path: 'src/cart.ts', symbol: 'Cart/total' };
    const texts = async () => {
      const { items } = await project.call('code/locate', { kind: 'references', at, ...page });
      return items.filter(({ path }) => path === 'src/main.ts').flatMap(({ places }) => places.map((one) => one[4]));
    };
    expect(await texts()).toEqual(['  return new Cart().total(1);']);
    project.reads.length = 0;
    await texts();
    expect(project.reads).not.toContain('src/main.ts');
    project.write('src/main.ts', "import { Cart } from './cart';\n\nconst two = new Cart().total(2);\n");
    expect(await texts()).toEqual(['const two = new Cart().total(2);']);
    project.write('src/main.ts', mainText);
    expect(await texts()).toEqual(['  return new Cart().total(1);']);
  });

  it('sees every change of files that was made before the request', async () => {
    expect(await project.problems('src/main.ts')).toEqual([]);
    // The change is in another file, which is not open in the server.
    project.write('src/price.ts', 'export const price = 1;\n');
    project.write('src/main.ts', "import { price } from './price';\nconst text: string = price;\n");
    expect(await project.problems('src/main.ts')).toEqual(["2: Type 'number' is not assignable to type 'string'."]);
    project.write('src/price.ts', "export const price = '';\n");
    expect(await project.problems('src/main.ts')).toEqual([]);
    // A new file takes the place of the old one, as editors write files.
    project.write('src/new.ts', 'export const price = true;\n');
    renameSync(join(project.root, 'src/new.ts'), join(project.root, 'src/price.ts'));
    expect(await project.problems('src/main.ts')).toEqual(["2: Type 'boolean' is not assignable to type 'string'."]);
    rmSync(join(project.root, 'src/price.ts'));
    expect(await project.problems('src/main.ts')).toMatchObject([expect.stringContaining("'./price'")]);
    // The file is in a new folder.
    project.write('src/deep/er/price.ts', "export const price = '';\n");
    project.write('src/main.ts', "import { price } from './deep/er/price';\nconst text: string = price;\n");
    expect(await project.problems('src/main.ts')).toEqual([]);
    expect(await project.locate('references', { path: 'src/deep/er/price.ts', symbol: 'price' })).toEqual([
      'src/deep/er/price.ts:1:14',
      'src/main.ts:1:10',
      'src/main.ts:2:22',
    ]);
    renameSync(join(project.root, 'src/deep'), join(project.root, 'src/other'));
    expect(await project.problems('src/main.ts')).toHaveLength(1);
  });
});

describe.each([
  ['pyright', '3: Type "int" is not assignable to declared type "str"'],
  ['pylsp', null],
])('Python with %s', (server, problem) => {
  it('gives the answers of the server itself, and reports errors', async () => {
    const project = new Project(
      {
        'cart.py': 'class Cart:\n    def total(self, count: int) -> int:\n        return count\n',
        'main.py': 'from cart import Cart\n\nx: str = Cart().total(1)\n',
      },
      server,
    );
    const at = { path: 'main.py', line: 3, column: 18 };
    const spec = knownServers('/nowhere', modules).find(({ name }) => name === server)!;
    const bare = await project.bare(
      spec.commands.at(-1)!,
      'textDocument/references',
      at.path,
      'python',
      at.line,
      at.column,
    );
    expect(bare).toEqual(['cart.py:2:9', 'main.py:3:17']);
    expect(await project.locate('references', at)).toEqual(bare);
    expect(await project.locate('definition', { path: 'main.py', line: 3, column: 11 })).toEqual(['cart.py:1:7']);
    expect(await project.locate('definition', { path: 'cart.py', symbol: 'Cart/total' })).toEqual(['cart.py:2:9']);
    if (problem !== null) expect((await project.problems('main.py'))[0]).toContain(problem);
    if (server === 'pylsp')
      await expect(project.call('code/search', { query: 'Cart', ...page })).rejects.toThrow(/pylsp does not have/);
  });
});

describe('the C language server', () => {
  const files = {
    'price.h': 'int price(int n);\n',
    'price.c': '#include "price.h"\nint price(int n) {\n  return n;\n}\n',
    'main.c': '#include "price.h"\nint main(void) {\n  return price(2);\n}\n',
  };

  it.each(['.', 'build'])(
    'with compile_commands.json in %s: finds references in files that were never opened, reports errors after another file changed, and writes nothing into the project',
    async (folder) => {
      const project = new Project(files);
      const commands = ['main.c', 'price.c'].map((file) => ({
        ...{ directory: project.root, file },
        arguments: ['cc', '-c', file],
      }));
      project.write(join(folder, 'compile_commands.json'), JSON.stringify(commands));
      const before = readdirSync(project.root, { recursive: true });
      const references = () => project.locate('references', { path: 'main.c', line: 3, column: 11 });
      expect(await references()).toEqual(['main.c:3:10', 'price.c:2:5', 'price.h:1:5']);
      expect(await project.problems('main.c')).toEqual([]);
      project.write('price.h', 'int price(int n, int m);\n');
      expect(await project.problems('main.c')).toMatchObject([expect.stringMatching(/^3: too few arguments/i)]);
      expect(readdirSync(project.root, { recursive: true })).toEqual(before);
      const [cached] = readdirSync(join(cache, 'carrel/clangd'));
      expect(readdirSync(join(cache, 'carrel/clangd', cached!, '.cache/clangd/index'))).not.toEqual([]);
    },
  );

  it('with compile_commands.json in a folder of the project writes nothing into it', async () => {
    const project = new Project({ 'sub/main.c': files['main.c'], 'sub/price.h': files['price.h'] });
    const command = { directory: join(project.root, 'sub'), file: 'main.c', arguments: ['cc', '-c', 'main.c'] };
    project.write('sub/compile_commands.json', JSON.stringify([command]));
    const before = readdirSync(project.root, { recursive: true });
    expect(await project.locate('definition', { path: 'sub/main.c', line: 3, column: 11 })).toEqual([
      'sub/price.h:1:5',
    ]);
    await project.servers.dispose();
    expect(readdirSync(project.root, { recursive: true })).toEqual(before);
  });
});

/** Their servers and toolchains are too large for every run: with CARREL_TEST_ALL they have to be on PATH. */
describe.each(
  isRepeated
    ? [
        {
          server: 'gopls',
          languageId: 'go',
          files: {
            'go.mod': 'module shop\n\ngo 1.19\n',
            'cart.go': 'package main\n\nfunc total(count int) int {\n\treturn count\n}\n',
            'main.go': 'package main\n\nfunc main() {\n\tvar x string = total(1)\n\t_ = x\n}\n',
          },
          at: { path: 'main.go', line: 4, column: 18 },
          places: ['cart.go:3:6', 'main.go:4:17'],
          problem: /^4: cannot use total\(1\)/,
        },
        {
          server: 'rust-analyzer',
          languageId: 'rust',
          files: {
            'Cargo.toml': '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n',
            'src/cart.rs': 'pub fn total(count: i32) -> i32 {\n    count\n}\n',
            'src/main.rs': 'mod cart;\n\nfn main() {\n    let x: bool = cart::total(1);\n}\n',
          },
          at: { path: 'src/main.rs', line: 4, column: 26 },
          places: ['src/cart.rs:1:8', 'src/main.rs:4:25'],
          problem: /^4: mismatched types/,
        },
      ]
    : [],
)('$server', ({ server, languageId, files, at, places, problem }) => {
  it('gives the answers of the server itself, reports errors, and sees a change', async () => {
    const project = new Project(files, server);
    expect(await project.locate('references', at)).toEqual(places);
    const asked = [at.path, languageId, at.line, at.column, places.length] as const;
    expect(await project.bare([server], 'textDocument/references', ...asked)).toEqual(places);
    expect(await project.locate('definition', at)).toEqual(places.slice(0, 1));
    expect(await project.problems(at.path)).toMatchObject([expect.stringMatching(problem)]);
    project.write(
      at.path,
      files[at.path as keyof typeof files]!.replace(/string|bool/, languageId === 'go' ? 'int' : 'i32'),
    );
    expect(await project.problems(at.path)).toEqual([]);
    const [definition = '', line = ''] = places[0]!.split(':');
    project.write(definition, `\n${files[definition as keyof typeof files]}`);
    expect(await project.locate('definition', at)).toEqual([places[0]!.replace(`:${line}:`, `:${Number(line) + 1}:`)]);
  });
});

it.each([['a.sh', 'price() {\n  echo "$1"\n}\nprice 2\n', 'bash', 4]])(
  '%s is answered by %s',
  async (path, text, server, line) => {
    const project = new Project({ [path]: text });
    const answer = await project.call('code/locate', { kind: 'references', at: { path, line, column: 2 }, ...page });
    expect(answer).toMatchObject({ status: 'complete', server });
    expect(answer.items.flatMap(({ places }) => places.map(([at]) => at))).toEqual([1, 4]);
  },
);

it('YAML has diagnostics', async () => {
  const project = new Project({ 'a.yaml': 'a: 1\na: 2\n' });
  expect(await project.problems('a.yaml')).toEqual(['2: Map keys must be unique']);
  project.write('a.yaml', 'a: 1\n');
  expect(await project.problems('a.yaml')).toEqual([]);
});

it('a file without a known server is refused, and one whose server is missing is refused with a hint', async () => {
  const project = new Project({ 'a.zig': '', 'a.go': '' });
  await expect(project.call('code/symbols', { path: 'a.zig', ...page })).rejects.toMatchObject({ code: 'unsupported' });
  if (process.env.PATH?.includes('gopls')) return;
  await expect(project.call('code/symbols', { path: 'a.go', ...page })).rejects.toMatchObject({
    code: 'unsupported',
    hint: expect.stringContaining('go install') as string,
  });
});
