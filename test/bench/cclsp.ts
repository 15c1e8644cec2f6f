/**
 * Code intelligence of the hub beside cclsp, both with pyright: cclsp does not answer requests of a language server,
 * and TypeScript's server waits for such answers.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { openCall } from './hub-port.ts';
import { missing, type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const program = resolve('test/clients/node_modules/cclsp/dist/index.js');
const pyright = [process.execPath, resolve('node_modules/pyright/langserver.index.js'), '--stdio'];
const files = 40;

export async function measureCclsp({ carrel, options, projects, cleanup, signal }: Bench): Promise<Row[]> {
  if (!existsSync(program)) return [missing('cclsp')];
  const folder = projects.path('python');
  makeProject(folder);
  const peer = new StdioClientTransport({
    ...{ command: process.execPath, args: [program], cwd: folder, stderr: 'ignore' },
    env: { PATH: process.env.PATH ?? '', CCLSP_CONFIG_PATH: join(folder, 'cclsp.json') },
  });
  const asked = { file_path: join(folder, 'price.py'), symbol_name: 'price', symbol_kind: 'function' };
  const call = await openCall(peer, cleanup, 'find_references', { ...asked, include_declaration: true });
  const input = { project: await carrel.addProject(folder), path: 'price.py', symbol: 'price' };
  const taken = await interleave(
    options.rounds,
    { cclsp: () => elapsed(call), carrel: () => elapsed(() => carrel.callTool('find_references', input)) },
    signal,
  );
  const [cclsp, own] = [summarize(taken.cclsp), summarize(taken.carrel)];
  return [
    row(`cclsp with pyright, find_references: ${files * 2 + 1} places`, cclsp),
    row('the hub with pyright, find_references', own, timesPeer(own, 'cclsp', cclsp)),
  ];
}

function makeProject(folder: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, 'price.py'), 'def price(count: int) -> int:\n    return count\n');
  for (let number = 0; number < files; number += 1) {
    writeFileSync(join(folder, `use${number}.py`), `from price import price\n\ntotal = price(${number})\n`);
  }
  const server = { extensions: ['py'], command: pyright, rootDir: folder };
  writeFileSync(join(folder, 'cclsp.json'), JSON.stringify({ servers: [server] }));
}
