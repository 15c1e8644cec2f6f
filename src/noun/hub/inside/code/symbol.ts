/** Symbols of a file and of the project. */

import { asFault, Fault } from '../../../../model/fault.ts';
import type {
  CodePage,
  CodeRange,
  CodeStatus,
  CodeSymbol,
  FoundSymbols,
  OfFile,
  SearchSymbols,
} from '../../model/code.ts';
import type { CodeCall } from '../inside.ts';
import { listOf, type Range, resultOf } from '../lsp/answer/answer.ts';
import { type DocumentSymbol, documentSymbols, plainName, symbolKind, workspaceSymbol } from '../lsp/answer/symbol.ts';
import { pathOf } from '../lsp/answer/uri.ts';
import type { LanguageServers } from '../lsp/lsp.ts';
import { answerOf, pageOf, rangeOf } from './position.ts';

export async function symbolsOf(_root: string, request: OfFile, call: CodeCall): Promise<CodePage<CodeSymbol>> {
  const options = { signal: call.signal, timeoutMs: request.timeoutMs };
  const answer = await call.servers.request(request.path, 'textDocument/documentSymbol', {}, options);
  const symbols = resultOf(answer, documentSymbols).flatMap((one) => flattened(one, '', request.path));
  return { ...answerOf(answer), ...pageOf(symbols, request) };
}

/** The symbol, then the symbols in it, each with the path of its name. */
function flattened(symbol: DocumentSymbol, above: string, path: string): CodeSymbol[] {
  const name = above + plainName(symbol.name);
  const { range, selectionRange, kind, detail } = symbol;
  const place = {
    ...rangeOf(path, range),
    line: selectionRange.start.line + 1,
    column: selectionRange.start.character + 1,
  };
  const own = { ...place, name, kind: symbolKind(kind), detail: detail.slice(0, 200) };
  return [own, ...symbol.children.flatMap((child) => flattened(child, `${name}/`, path))];
}

interface Found {
  readonly server: string;
  readonly status: CodeStatus;
  readonly items: readonly CodeSymbol[];
  readonly error?: string;
}

/** Asks every server that has a file in the project. */
export async function searchSymbols(root: string, request: SearchSymbols, call: CodeCall): Promise<FoundSymbols> {
  const paths = request.path === undefined ? await call.servers.examples() : [request.path];
  if (paths.length === 0)
    throw new Fault('unsupported', 'no language server is known for the files of the project', {
      hint: 'Name one in config.yaml under hub.languageServers.',
    });
  const found = await Promise.all(paths.map((path) => searched(root, path, request, call)));
  const errors = found.flatMap(({ server, error }) => (error === undefined ? [] : [{ server, message: error }]));
  if (errors.length === found.length) throw new Fault('internal', errors.map(({ message }) => message).join('; '));
  const items = found.flatMap((one) => one.items);
  const worst = found.find(({ status }) => status === 'timed_out') ?? found.find(({ status }) => status === 'indexing');
  const servers = found.map(({ server }) => server);
  return { status: worst?.status ?? 'complete', servers, errors, ...pageOf(items, request) };
}

/** An error of one server does not hide what others found. */
async function searched(root: string, path: string, request: SearchSymbols, call: CodeCall): Promise<Found> {
  try {
    return await ask(call.servers, root, path, request, call.signal);
  } catch (error) {
    if (call.signal.aborted) throw error;
    return { server: path, status: 'complete', items: [], error: asFault(error).message };
  }
}

async function ask(
  servers: LanguageServers,
  root: string,
  path: string,
  { query, timeoutMs }: SearchSymbols,
  signal: AbortSignal,
): Promise<Found> {
  const answer = await servers.request(path, 'workspace/symbol', { query }, { signal, timeoutMs });
  const items = resultOf(answer, listOf(workspaceSymbol)).map(({ name, kind, location, containerName = '' }) => ({
    ...placed(pathOf(root, location.uri), location.range),
    name: containerName === '' ? plainName(name) : `${containerName}/${plainName(name)}`,
    kind: symbolKind(kind),
    detail: '',
  }));
  return { ...answerOf(answer), items };
}

function placed(path: string, range: Range | undefined): CodeRange {
  return range ? rangeOf(path, range) : { path, line: 1, column: 1, endLine: 1, endColumn: 1 };
}
