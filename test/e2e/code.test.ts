/** Code intelligence of the hub with real language servers in the sandboxes of projects. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Installation } from '../harness/installation.ts';

let carrel: Installation;

beforeAll(async () => {
  carrel = new Installation();
  await add('ts', {
    'tsconfig.json': '{"compilerOptions":{"strict":true}}',
    'src/cart.ts': 'export class Cart {\n  total(count: number) {\n    return count;\n  }\n}\n',
    'src/main.ts': "import { Cart } from './cart';\nnew Cart().total(1);\n",
  });
});
afterAll(() => carrel.dispose());

async function add(name: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = carrel.folder(name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  await carrel.ok('project', 'add', folder);
  return folder;
}

async function call(tool: string, input: object): Promise<Record<string, unknown>> {
  return JSON.parse(await carrel.ok('--json', 'hub', 'call', tool, JSON.stringify(input))) as Record<string, unknown>;
}

describe('TypeScript', () => {
  it('finds a definition by position and by symbol', async () => {
    const definition = {
      path: 'src/cart.ts',
      line: 2,
      column: 3,
      end_line: 2,
      end_column: 8,
      text: '  total(count: number) {',
    };
    const found = await call('find_definition', { project: 'ts', path: 'src/main.ts', line: 2, column: 14 });
    expect(found).toMatchObject({ status: 'complete', server: 'typescript', locations: [definition] });
    const named = await call('find_definition', { project: 'ts', path: 'src/cart.ts', symbol: 'Cart/total' });
    expect(named).toMatchObject({ locations: [definition] });
  });
});
