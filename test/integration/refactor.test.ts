/** Refactorings of real projects: the edits are those of the language server alone, and the compiler accepts the result. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { codeEditMethods } from '../../src/noun/hub/inside/code/edit.ts';
import { applyEdit } from '../../src/noun/hub/inside/edit/apply.ts';
import { finishEdit, prepareEdit } from '../../src/noun/hub/inside/edit/edit.ts';
import { readDocument } from '../../src/noun/hub/inside/file/document.ts';
import { knownServers } from '../../src/noun/hub/inside/lsp/known.ts';
import type { LanguageServers } from '../../src/noun/hub/inside/lsp/lsp.ts';
import { Servers } from '../../src/noun/hub/inside/lsp/servers.ts';
import type { CodeEdit } from '../../src/noun/hub/model/code-edit.ts';
import { BareServer } from '../fixtures/bare-server.ts';

const modules = resolve('node_modules');
const signal = new AbortController().signal;
const timeoutMs = 60_000;
const id = '0123456789abcdef';
const undo: (() => unknown)[] = [];
afterAll(async () => {
  for (const one of undo.reverse()) await one();
});

const tsc = [join(modules, `@typescript/typescript-linux-${process.arch}/lib/tsc`), '--lsp', '--stdio'];
const pyright = [join(modules, '.bin/pyright-langserver'), '--stdio'];
const clangd = ['clangd'];
class Project {
  readonly root = mkdtempSync(join(tmpdir(), 'carrel-refactor-'));
  servers: LanguageServers;

  constructor(files: Readonly<Record<string, string>>) {
    for (const [path, text] of Object.entries(files)) this.write(path, text);
    const specs = knownServers('/nowhere', modules);
    const servers = new Servers({ root: this.root, specs, read: (path) => readDocument(this.root, path) });
    this.servers = servers;
    undo.push(async () => {
      await servers.dispose();
      rmSync(this.root, { recursive: true });
    });
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), 'utf8');
  }

  changes(asked: CodeEdit) {
    return codeEditMethods['code/edit'](this.root, asked, { signal, servers: this.servers });
  }

  async apply(asked: CodeEdit): Promise<void> {
    const { changes } = await this.changes(asked);
    prepareEdit(this.root, { id, changes, dryRun: false });
    applyEdit(this.root, { id });
    finishEdit(this.root, { id });
  }

  actions(path: string, startLine: number) {
    const asked = { path, lines: { startLine, endLine: startLine }, timeoutMs };
    return codeEditMethods['code/actions'](this.root, asked, { signal, servers: this.servers });
  }

  /** The output of a compiler; empty: it succeeded. */
  compiled([program = '', ...args]: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: this.root, encoding: 'utf8' });
    return status === 0 ? '' : `${stdout}${stderr}` || 'failed';
  }

  /** The edits of the server alone: path, place and new text. */
  async bare(
    command: readonly string[],
    path: string,
    language: string,
    line: number,
    column: number,
    newName: string,
    also: readonly string[] = [],
  ) {
    const server = await BareServer.start(this.root, command);
    try {
      for (const one of [...also, path]) await server.open(one, language);
      const position = { line: line - 1, character: column - 1 };
      const edit = await server.request<BareEdit>(path, 'textDocument/rename', { position, newName });
      const files = edit.documentChanges?.map(({ textDocument, edits }) => [textDocument.uri, edits] as const);
      return (files ?? Object.entries(edit.changes ?? {}))
        .flatMap(([uri, edits]) => edits.map((one) => shown(uri.slice(server.uri('.').length + 1), one)))
        .sort();
    } finally {
      server.stop();
    }
  }

  async renamed(path: string, line: number, column: number, newName: string): Promise<string[]> {
    const { changes } = await this.changes({ act: 'rename', at: { path, line, column }, newName, timeoutMs });
    return changes
      .flatMap((change) =>
        change.kind === 'edit' ? change.edits.map((one) => `${change.path} ${JSON.stringify(one)}`) : [],
      )
      .sort();
  }
}

interface BareTextEdit {
  readonly range: Readonly<Record<'start' | 'end', { readonly line: number; readonly character: number }>>;
  readonly newText: string;
}
interface BareEdit {
  readonly changes?: Readonly<Record<string, BareTextEdit[]>>;
  readonly documentChanges?: { readonly textDocument: { readonly uri: string }; readonly edits: BareTextEdit[] }[];
}

function shown(path: string, { range: { start, end }, newText }: BareTextEdit): string {
  const startPlace = { startLine: start.line + 1, startColumn: start.character + 1 };
  return `${path} ${JSON.stringify({ ...startPlace, endLine: end.line + 1, endColumn: end.character + 1, newText })}`;
}

const typescriptFiles = {
  'tsconfig.json':
    '{"compilerOptions":{"strict":true,"noEmit":true,"module":"nodenext","allowImportingTsExtensions":true,"types":[]}}',
  'package.json': '{"type":"module"}',
  'src/price.ts': 'export class Price {\n  amount = 1;\n  double() {\n    return this.amount * 2;\n  }\n}\n',
  'src/shop.ts':
    "import { Price } from './price.ts';\n\nexport const total = (price: Price) => price.double() + price.amount;\n",
  'src/deep/use.ts':
    "import { total } from '../shop.ts';\nimport { Price } from '../price.ts';\n\nconsole.log(total(new Price()));\ndeclare const console: { log(value: number): void };\n",
};
const checkTypes = [tsc[0]!, '-p', '.'];

describe('a TypeScript project', () => {
  it('compiles after a rename, whose edits are those of the server itself', async () => {
    const project = new Project(typescriptFiles);
    expect(project.compiled(checkTypes)).toBe('');
    const alone = await project.bare(tsc, 'src/price.ts', 'typescript', 3, 3, 'twice');
    expect(alone).toHaveLength(2);
    expect(await project.renamed('src/price.ts', 3, 3, 'twice')).toEqual(alone);
    await project.apply({
      act: 'rename',
      at: { path: 'src/price.ts', symbol: 'Price/double' },
      newName: 'twice',
      timeoutMs,
    });
    expect(project.read('src/shop.ts')).toContain('price.twice() + price.amount');
    // This rename is requested at a use, and makes no alias in the import.
    await project.apply({
      act: 'rename',
      at: { path: 'src/shop.ts', line: 1, column: 10 },
      newName: 'Cost',
      timeoutMs,
    });
    expect(project.read('src/shop.ts')).toContain("import { Cost } from './price.ts';");
    expect(project.read('src/price.ts')).toContain('export class Cost');
    expect(project.read('src/deep/use.ts')).toContain('new Cost()');
    expect(project.compiled(checkTypes)).toBe('');
  });

  it('compiles after files and folders are moved with their imports', async () => {
    const project = new Project(typescriptFiles);
    await project.apply({ act: 'moveFile', path: 'src/price.ts', to: 'src/model/cost.ts', timeoutMs });
    expect(project.read('src/shop.ts')).toContain("from './model/cost.ts'");
    expect(project.compiled(checkTypes)).toBe('');
    await project.apply({ act: 'moveFile', path: 'src/deep', to: 'deep', timeoutMs });
    expect(project.read('deep/use.ts')).toContain("from '../src/shop.ts'");
    expect(project.compiled(checkTypes)).toBe('');
  });

  it('has imports organised and text formatted', async () => {
    const project = new Project(typescriptFiles);
    project.write(
      'src/x.ts',
      "import { total } from './shop.ts';\nimport { Price } from './price.ts';\nexport   const p = new Price( );\n",
    );
    await project.apply({ act: 'organizeImports', path: 'src/x.ts', timeoutMs });
    await project.apply({ act: 'format', path: 'src/x.ts', tabSize: 2, insertSpaces: true, timeoutMs });
    expect(project.read('src/x.ts')).toBe("import { Price } from './price.ts';\nexport const p = new Price();\n");
  });

  it('lists code actions for a problem, and applies one by its id', async () => {
    const project = new Project(typescriptFiles);
    project.write('src/x.ts', 'export const p = new Price();\n');
    const { actions } = await project.actions('src/x.ts', 1);
    const fix = actions.find(({ title }) => /import/i.test(title));
    expect(fix?.kind).toBe('quickfix');
    await project.apply({
      act: 'apply',
      path: 'src/x.ts',
      lines: { startLine: 1, endLine: 1 },
      id: fix!.id,
      timeoutMs,
    });
    expect(project.compiled(checkTypes)).toBe('');
    await expect(
      project.changes({ act: 'apply', path: 'src/x.ts', lines: null, id: fix!.id, timeoutMs }),
    ).rejects.toMatchObject({ code: 'conflict' });
  });

  it('is not changed when a file changes after the edit was computed', async () => {
    const project = new Project(typescriptFiles);
    const { changes } = await project.changes({
      act: 'rename',
      at: { path: 'src/price.ts', line: 3, column: 3 },
      newName: 'twice',
      timeoutMs,
    });
    project.write('src/shop.ts', `// new\n${typescriptFiles['src/shop.ts']}`);
    expect(() => prepareEdit(project.root, { id, changes, dryRun: false })).toThrow(/src\/shop\.ts" is not as it was/);
    expect(project.read('src/price.ts')).toBe(typescriptFiles['src/price.ts']);
    // The next rename sees the change.
    const at = { path: 'src/price.ts', line: 3, column: 3 };
    await project.apply({ act: 'rename', at, newName: 'twice', timeoutMs });
    expect(project.compiled(checkTypes)).toBe('');
  });
});

it('a Python project runs after a rename, whose edits are those of the server itself', async () => {
  const project = new Project({
    'price.py': 'class Price:\n    def double(self) -> int:\n        return 2\n',
    'shop.py': 'from price import Price\n\nprint(Price().double())\n',
  });
  const alone = await project.bare(pyright, 'price.py', 'python', 2, 9, 'twice', ['shop.py']);
  expect(alone).toHaveLength(2);
  expect(await project.renamed('price.py', 2, 9, 'twice')).toEqual(alone);
  await project.apply({ act: 'rename', at: { path: 'price.py', line: 2, column: 9 }, newName: 'twice', timeoutMs });
  expect(project.compiled(['python3', 'shop.py'])).toBe('');
});

it('a C project compiles after a rename, whose edits are those of the server itself', async () => {
  const project = new Project({
    'price.h': 'int price(int amount);\n',
    'price.c':
      '#include "price.h"\nint price(int amount) { return amount * 2; }\nint main(void) { return price(0); }\n',
    'compile_flags.txt': '-std=c11\n',
  });
  const alone = await project.bare(clangd, 'price.c', 'c', 2, 5, 'cost');
  expect(await project.renamed('price.c', 2, 5, 'cost')).toEqual(alone);
  await project.apply({ act: 'rename', at: { path: 'price.c', line: 2, column: 5 }, newName: 'cost', timeoutMs });
  expect(project.read('price.c')).toContain('return cost(0)');
  expect(project.compiled(['cc', '-Wall', '-Werror', '-o', 'out', 'price.c'])).toBe('');
});
