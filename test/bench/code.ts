/** Code intelligence of the hub: in a cold spoke, beside the language server alone, beside a peer. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureCclsp } from './cclsp.ts';
import { measureReferences } from './references.ts';
import { atMost, type Row, row } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const files = 400;
const path = 'src/use0.ts';

export async function measureCode(bench: Bench): Promise<Row[]> {
  const { carrel, options, projects, signal } = bench;
  const folder = projects.path('code');
  makeProject(folder);
  const id = await carrel.addProject(folder);
  const position = { project: id, path, line: 2, column: 32 };
  const cold = await interleave(
    options.heavyRounds * 3,
    { carrel: () => coldDefinition(bench, id, position) },
    signal,
    false,
  );
  const first = summarize(cold.carrel);
  return [
    ...(await measureReferences(bench)),
    row('first find_definition in a cold spoke', first, [atMost(first, 1000)]),
    ...(await measureCclsp(bench)),
  ];
}

function makeProject(folder: string): void {
  mkdirSync(join(folder, 'src'), { recursive: true });
  writeFileSync(
    join(folder, 'tsconfig.json'),
    '{"compilerOptions":{"strict":true,"target":"es2022"},"include":["src"]}',
  );
  writeFileSync(join(folder, 'src/price.ts'), 'export function price(count: number): number {\n  return count;\n}\n');
  for (let number = 0; number < files; number += 1) writeFileSync(join(folder, `src/use${number}.ts`), textOf(number));
}

function textOf(number: number): string {
  const name = String(number).padStart(3, '0');
  return [
    "import { price } from './price';",
    `export const total${name} = () => price(${number});`,
    `export function describe${name}(names: readonly string[]): string {`,
    ...Array.from({ length: 40 }, (_, line) => `  if (names.length === ${line}) return names.join('${line}');`),
    "  return '';",
    '}',
    '',
  ].join('\n');
}

/** Includes the start of the sandbox, of the spoke and of the language server. */
async function coldDefinition({ carrel }: Bench, id: string, position: Record<string, unknown>): Promise<number> {
  await carrel.stopSpoke(id);
  return elapsed(() => carrel.callTool('find_definition', position));
}
