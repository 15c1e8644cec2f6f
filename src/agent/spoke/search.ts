/** Text search with ripgrep, as its users know it: ignored and hidden files are left out. */
import { spawn } from 'node:child_process';
import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import type { Match, Page, SearchText } from '../../model/spoke.ts';
import { realNames } from './path.ts';

const maxTextLength = 500;
const maxErrorBytes = 2000;

interface Reported {
  readonly type: string;
  readonly data: {
    readonly path: { readonly text?: string };
    readonly lines: { readonly text?: string };
    readonly line_number: number;
    readonly submatches: readonly { readonly start: number }[];
  };
}

export async function searchText(root: string, asked: SearchText, signal: AbortSignal): Promise<Page<Match>> {
  const where = realNames(root, asked.path, true).join('/') || '.';
  requireReadable(join(root, where), asked.path);
  const child = spawn('rg', argsOf(asked, where), { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], signal });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(0, maxErrorBytes);
  });
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  ended.catch(() => {});
  const page = await collect(createInterface({ input: child.stdout }), asked);
  child.kill();
  const code = await ended.catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new Fault('unsupported', 'there is no ripgrep (rg) in the sandbox') : error;
  });
  if (code === 2 && page.items.length === 0) throw new Fault('invalid', `ripgrep: ${said.trim()}`);
  return page;
}

/** ripgrep would wait for the other end of a named pipe. */
function requireReadable(found: string, path: string): void {
  const stat = lstatSync(found, { throwIfNoEntry: false });
  if (stat === undefined) throw new Fault('not_found', `${printable(path)} does not exist`);
  if (!stat.isFile() && !stat.isDirectory())
    throw new Fault('invalid', `${printable(path)} is neither a file nor a folder`);
}

function argsOf({ pattern, isLiteral, ignoreCase, globs }: SearchText, where: string): string[] {
  return [
    ...['--json', '--sort=path', '--no-config'],
    ...(isLiteral ? ['--fixed-strings'] : []),
    ...(ignoreCase ? ['--ignore-case'] : []),
    ...globs.map((glob) => `--glob=${glob}`),
    ...['--regexp', pattern, '--', where],
  ];
}

async function collect(lines: AsyncIterable<string>, { skip, limit }: SearchText): Promise<Page<Match>> {
  const items: Match[] = [];
  let left = skip;
  for await (const line of lines) {
    const found = matchOf(line);
    if (found === null || left-- > 0) continue;
    if (items.length === limit) return { items, more: true };
    items.push(found);
  }
  return { items, more: false };
}

function matchOf(line: string): Match | null {
  const { type, data } = JSON.parse(line) as Reported;
  if (type !== 'match' || data.path.text === undefined) return null;
  const text = data.lines.text ?? '';
  const at = data.submatches[0]?.start ?? 0;
  const column = Buffer.from(text).subarray(0, at).toString().length + 1;
  const path = join(data.path.text);
  return { path, line: data.line_number, column, text: text.replace(/\r?\n$/, '').slice(0, maxTextLength) };
}
