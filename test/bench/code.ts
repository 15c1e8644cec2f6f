/** Code intelligence of the hub, beside the language server alone. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BareServer } from '../fixtures/bare-server.ts';
import { atMost, type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const files = 400;
const command = [resolve(`node_modules/@typescript/typescript-linux-${process.arch}/lib/tsc`), '--lsp', '--stdio'];
/** The use of `price` in the file that is asked about. */
const [path, line, column] = ['src/use0.ts', 2, 32];

export async function measureCode(bench: Bench): Promise<Row[]> {
  const { carrel, options, projects, signal } = bench;
  const folder = projects.path('code');
  makeProject(folder);
  const id = await carrel.addProject(folder);
  const position = { project: id, path, line, column };
  const cold = await interleave(
    options.heavyRounds * 3,
    { carrel: () => coldDefinition(bench, id, position) },
    signal,
    false,
  );
  const bare = await BareServer.start(folder, command);
  bench.cleanup.add('the language server', async () => bare.stop());
  await bare.open(path, 'typescript');
  const context = { context: { includeDeclaration: true }, position: { line: line - 1, character: column - 1 } };
  const taken = await interleave(
    options.rounds,
    {
      bare: () => elapsed(() => bare.request(path, 'textDocument/references', context)),
      carrel: () => elapsed(() => carrel.callTool('find_references', { ...position, limit: 1000 })),
    },
    signal,
  );
  const [alone, ours] = [summarize(taken.bare), summarize(taken.carrel)];
  const first = summarize(cold.carrel);
  return [
    row(`the language server alone: ${files * 2 + 1} references`, alone),
    row('find_references', ours, timesPeer(ours, 'the server alone', alone, 1.1)),
    row('first find_definition in a cold spoke', first, [atMost(first, 1000)]),
  ];
}

function makeProject(folder: string): void {
  mkdirSync(join(folder, 'src'), { recursive: true });
  writeFileSync(
    join(folder, 'tsconfig.json'),
    '{"compilerOptions":{"strict":true,"target":"es2022"},"include":["src"]}',
  );
  writeFileSync(join(folder, 'src/price.ts'), 'export function price(count: number): number {\n  return count;\n}\n');
  for (let number = 0; number < files; number += 1) {
    const text = `import { price } from './price';\nexport const total${String(number).padStart(3, '0')} = () => price(${number});\n`;
    writeFileSync(join(folder, `src/use${number}.ts`), text);
  }
}

/** With the start of the sandbox, of the spoke and of the server. */
async function coldDefinition({ carrel }: Bench, id: string, position: Record<string, unknown>): Promise<number> {
  await carrel.stopSpoke(id);
  return elapsed(() => carrel.callTool('find_definition', position));
}
