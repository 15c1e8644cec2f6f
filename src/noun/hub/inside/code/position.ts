/** Converts positions that clients name to those of language servers, and back. */

import { Fault } from '../../../../model/fault.ts';
import { printable } from '../../../../model/name.ts';
import type { CodeAnswer, CodePosition, CodeRange } from '../../model/code.ts';
import { readDocument } from '../file/document.ts';
import type { CodeCall } from '../inside.ts';
import { type Position, type Range, resultOf } from '../lsp/answer/answer.ts';
import { documentSymbols, namePosition, symbolsAt } from '../lsp/answer/symbol.ts';
import type { LanguageServers, LspAnswer, LspCallOptions } from '../lsp/lsp.ts';

export async function positionOf(
  root: string,
  servers: LanguageServers,
  at: CodePosition,
  options: LspCallOptions,
): Promise<Position> {
  if (at.symbol !== undefined) return symbolPosition(root, servers, at.path, at.symbol, options);
  return { line: (at.line ?? 1) - 1, character: (at.column ?? 1) - 1 };
}

async function symbolPosition(
  root: string,
  servers: LanguageServers,
  path: string,
  symbol: string,
  options: LspCallOptions,
): Promise<Position> {
  const answer = await servers.request(path, 'textDocument/documentSymbol', {}, options);
  if (answer.status === 'timed_out') throw new Fault('unavailable', `${answer.server} has not answered in time`);
  const symbols = resultOf(answer, documentSymbols);
  const [found] = symbolsAt(symbols, symbol);
  if (found !== undefined) return namePosition(found, readDocument(root, path).text);
  const names = symbols.slice(0, 20).map(({ name }) => name);
  throw new Fault('not_found', `${printable(path)} has no symbol ${printable(symbol)}`, {
    hint: names.length === 0 ? 'It has no symbols.' : `It has: ${names.map((name) => printable(name)).join(', ')}`,
  });
}

export function answerOf({ status, server, version }: LspAnswer): CodeAnswer {
  return { status, server, version };
}

export function optionsOf({ timeoutMs }: { readonly timeoutMs: number }, { signal }: CodeCall): LspCallOptions {
  return { signal, timeoutMs };
}

export interface Paging {
  readonly limit: number;
  readonly skip: number;
}

export function pageOf<T>(all: readonly T[], { limit, skip }: Paging): { items: T[]; more: boolean } {
  return { items: all.slice(skip, skip + limit), more: all.length > skip + limit };
}

export function rangeOf(path: string, { start, end }: Range): CodeRange {
  const { line, character } = start;
  return { path, line: line + 1, column: character + 1, endLine: end.line + 1, endColumn: end.character + 1 };
}
