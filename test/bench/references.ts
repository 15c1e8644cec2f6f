/**
 * `find_references` in a real project, the sources of this repository, beside the language server alone. Plain messages
 * call both, after some calls that warm them up: V8 compiles code that runs often, so a daemon that has just started
 * would be slower.
 */
import { cpSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BareServer } from '../fixtures/bare-server.ts';
import { Installation } from '../harness/installation.ts';
import { plainSocket, type Tools } from './hub-port.ts';
import { type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const command = [resolve(`node_modules/@typescript/typescript-linux-${process.arch}/lib/tsc`), '--lsp', '--stdio'];
/** Symbols with thousands, hundreds and tens of uses. */
const symbols = [
  { path: 'src/model/fault.ts', text: 'class ', name: 'Fault' },
  { path: 'src/model/name.ts', text: 'function ', name: 'printable' },
  { path: 'src/model/shape.ts', text: 'function ', name: 'whole' },
] as const;
/** The default limit, and the largest one. */
const limits = [200, 1000];
const warmingCalls = 100;
/** Garbage collection doubles a time of the server now and then: with few calls, the median would vary. */
const times = 4;

interface Symbol {
  readonly name: string;
  readonly path: string;
  readonly line: number;
  readonly column: number;
}

export async function measureReferences(bench: Bench): Promise<Row[]> {
  const carrel = new Installation();
  bench.cleanup.add('hub of a real project', () => carrel.dispose());
  const folder = carrel.folder('real');
  copySources(folder);
  carrel.write('home/config.yaml', 'http: {port: 0, rate: 1000000}\n');
  await carrel.ok('project', 'add', folder);
  const token = (await carrel.ok('hub', 'token', '--project', 'real')).trim();
  const tools = await plainSocket((await carrel.json<{ mcp: string }>('status')).mcp, token, bench.cleanup);
  const bare = await BareServer.start(folder, command);
  bench.cleanup.add('the language server', async () => bare.stop());
  const calls: Calls[] = [];
  for (const one of symbols) calls.push(await callsOf(bare, tools, symbolIn(folder, one)));
  await warm(calls[1]!);
  const rows: Row[] = [];
  for (const one of calls) rows.push(...(await measureSymbol(bench, one)));
  return rows;
}

function copySources(folder: string): void {
  for (const part of ['src', 'test']) {
    cpSync(part, join(folder, part), { recursive: true, filter: (path) => !path.includes('node_modules') });
  }
  for (const file of ['package.json', 'tsconfig.json']) cpSync(file, join(folder, file));
}

function symbolIn(folder: string, { path, text, name }: (typeof symbols)[number]): Symbol {
  const before = readFileSync(join(folder, path), 'utf8').split(`${text}${name}`)[0]!.split('\n');
  return { name, path, line: before.length, column: before.at(-1)!.length + text.length + 1 };
}

interface Calls {
  readonly name: string;
  alone(): Promise<unknown[]>;
  through(limit: number): Promise<Record<string, unknown>>;
}

async function callsOf(bare: BareServer, tools: Tools, { name, path, line, column }: Symbol): Promise<Calls> {
  await bare.open(path, 'typescript');
  const params = { context: { includeDeclaration: true }, position: { line: line - 1, character: column - 1 } };
  return {
    name,
    alone: () => bare.request(path, 'textDocument/references', params),
    through: (limit) => tools('find_references', { project: 'real', path, line, column, limit }),
  };
}

async function warm({ alone, through }: Calls): Promise<void> {
  for (let count = 0; count < warmingCalls; count += 1) {
    await alone();
    await through(limits[1]!);
  }
}

async function measureSymbol({ options, signal }: Bench, { name, alone, through }: Calls): Promise<Row[]> {
  const { length } = await alone();
  for (const limit of limits) checkCount(await through(limit), Math.min(length, limit));
  const taken = await interleave(
    options.rounds * times,
    {
      alone: () => elapsed(alone),
      page: () => elapsed(() => through(limits[0]!)),
      all: () => elapsed(() => through(limits[1]!)),
    },
    signal,
  );
  const peer = summarize(taken.alone);
  const beside = (what: string, times: readonly number[]) => {
    const own = summarize(times);
    return row(what, own, timesPeer(own, 'the server alone', peer, 1.1));
  };
  const [page, most] = limits.map((limit) => Math.min(length, limit));
  return [
    row(`the language server alone: ${length} references of ${name}`, peer),
    beside(`find_references, ${page} of them`, taken.page),
    ...(most === page ? [] : [beside(`find_references, ${most} of them`, taken.all)]),
  ];
}

function checkCount({ locations }: Readonly<Record<string, unknown>>, count: number): void {
  const found = (locations as unknown[]).length;
  if (found !== count) throw new Error(`${found} references instead of ${count}`);
}
