/** Code intelligence of the hub, beside the language server alone. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BareServer } from '../fixtures/bare-server.ts';
import { measureCclsp } from './cclsp.ts';
import { atMost, type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const files = 400;
const command = [resolve(`node_modules/@typescript/typescript-linux-${process.arch}/lib/tsc`), '--lsp', '--stdio'];
/** Uses in the file that is asked about: of `price`, which all files use, and of `tax`, which every twentieth uses. */
const path = 'src/use0.ts';
const uses = { price: { line: 3, column: 32 }, tax: { line: 4, column: 30 } };
const counts = { price: files * 2 + 1, tax: (files / 20) * 2 + 1 };

export async function measureCode(bench: Bench): Promise<Row[]> {
  const { carrel, options, projects, signal } = bench;
  const folder = projects.path('code');
  makeProject(folder);
  const id = await carrel.addProject(folder);
  const position = { project: id, path, ...uses.price };
  const cold = await interleave(
    options.heavyRounds * 3,
    { carrel: () => coldDefinition(bench, id, position) },
    signal,
    false,
  );
  const first = summarize(cold.carrel);
  return [
    ...(await measureReferences(bench, folder, id)),
    row('first find_definition in a cold spoke', first, [atMost(first, 1000)]),
    ...(await measureCclsp(bench)),
  ];
}

async function measureReferences({ carrel, options, cleanup, signal }: Bench, folder: string, id: string) {
  const bare = await BareServer.start(folder, command);
  cleanup.add('the language server', async () => bare.stop());
  await bare.open(path, 'typescript');
  const alone = async ({ line, column }: typeof uses.price, count: number) => {
    const position = { line: line - 1, character: column - 1 };
    const params = { context: { includeDeclaration: true }, position };
    checkCount(await bare.request<unknown[]>(path, 'textDocument/references', params), count);
  };
  const through = async (at: typeof uses.price, limit: number, count: number) => {
    const { locations } = await carrel.callTool('find_references', { project: id, path, ...at, limit });
    checkCount(locations as unknown[], count);
  };
  const taken = await interleave(
    options.rounds * 2,
    {
      bareMany: () => elapsed(() => alone(uses.price, counts.price)),
      all: () => elapsed(() => through(uses.price, 1000, counts.price)),
      page: () => elapsed(() => through(uses.price, 200, 200)),
      bareFew: () => elapsed(() => alone(uses.tax, counts.tax)),
      few: () => elapsed(() => through(uses.tax, 200, counts.tax)),
    },
    signal,
  );
  const [bareMany, bareFew] = [summarize(taken.bareMany), summarize(taken.bareFew)];
  const beside = (what: string, times: readonly number[], peer: typeof bareMany) => {
    const own = summarize(times);
    return row(what, own, timesPeer(own, 'the server alone', peer, 1.1));
  };
  return [
    row(`the language server alone: ${counts.tax} references`, bareFew),
    beside('find_references, all of them', taken.few, bareFew),
    row(`the language server alone: ${counts.price} references`, bareMany),
    beside('find_references, the first page of 200', taken.page, bareMany),
    beside('find_references, all of them', taken.all, bareMany),
  ];
}

function checkCount(found: readonly unknown[], count: number): void {
  if (found.length !== count) throw new Error(`${found.length} references instead of ${count}`);
}

function makeProject(folder: string): void {
  mkdirSync(join(folder, 'src'), { recursive: true });
  writeFileSync(
    join(folder, 'tsconfig.json'),
    '{"compilerOptions":{"strict":true,"target":"es2022"},"include":["src"]}',
  );
  for (const name of Object.keys(uses)) {
    const text = `export function ${name}(count: number): number {\n  return count;\n}\n`;
    writeFileSync(join(folder, `src/${name}.ts`), text);
  }
  for (let number = 0; number < files; number += 1) writeFileSync(join(folder, `src/use${number}.ts`), textOf(number));
}

function textOf(number: number): string {
  const [name, taxed] = [String(number).padStart(3, '0'), number % 20 === 0];
  return [
    "import { price } from './price';",
    taxed ? "import { tax } from './tax';" : '',
    `export const total${name} = () => price(${number});`,
    taxed ? `export const tax${name} = () => tax(${number});` : '',
    `export function describe${name}(names: readonly string[]): string {`,
    ...Array.from({ length: 40 }, (_, line) => `  if (names.length === ${line}) return names.join('${line}');`),
    "  return '';",
    '}',
    '',
  ].join('\n');
}

/** With the start of the sandbox, of the spoke and of the server. */
async function coldDefinition({ carrel }: Bench, id: string, position: Record<string, unknown>): Promise<number> {
  await carrel.stopSpoke(id);
  return elapsed(() => carrel.callTool('find_definition', position));
}
