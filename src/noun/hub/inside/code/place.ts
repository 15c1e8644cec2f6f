/** Places of an answer, each with its line. An answer may have tens of thousands, of which a page is shown. */

import type { FilePlaces } from '../../model/code.ts';
import type { Range } from '../lsp/answer/answer.ts';
import type { LocationList } from '../lsp/answer/location-list.ts';
import { pathOf } from '../lsp/answer/uri.ts';
import type { LanguageServers } from '../lsp/lsp.ts';
import type { Paging } from './position.ts';

const maxTextLength = 200;

type LinesOf = (path: string) => readonly string[];

interface Page {
  readonly items: readonly FilePlaces[];
  readonly more: boolean;
}

/** One page of places, sorted by path and position, without duplicates. Files after the page are not read. */
export function placesOn({ limit, skip }: Paging, root: string, locations: LocationList, read: LinesOf): Page {
  const byPath = urisByPath(root, locations);
  const items: FilePlaces[] = [];
  const end = skip + limit;
  let before = 0;
  for (const path of [...byPath.keys()].sort()) {
    if (before >= end) return { items, more: true };
    const ranges = distinct(byPath.get(path)!.flatMap((uri) => locations.rangesIn(uri)));
    const shown = ranges.slice(Math.max(0, skip - before), end - before);
    before += ranges.length;
    if (shown.length > 0) items.push(placesIn(path, shown, read(path)));
  }
  return { items, more: before > end };
}

/** Groups the URIs by path, because two spellings may name the same file. */
function urisByPath(root: string, locations: LocationList): Map<string, string[]> {
  const byPath = new Map<string, string[]>();
  for (const uri of locations.uris()) {
    const path = pathOf(root, uri);
    const others = byPath.get(path);
    if (others) others.push(uri);
    else byPath.set(path, [uri]);
  }
  return byPath;
}

/** Sorts and removes duplicates only if necessary: most servers send the places of a file in order, each once. */
function distinct(ranges: Range[]): Range[] {
  const isBefore = (range: Range, index: number) => index === 0 || compare(ranges[index - 1]!, range) < 0;
  return ranges.every(isBefore) ? ranges : ranges.sort(compare).filter(isBefore);
}

function compare(a: Range, b: Range): number {
  return a.start.line - b.start.line || a.start.character - b.start.character || a.end.line - b.end.line;
}

function placesIn(path: string, ranges: readonly Range[], lines: readonly string[]): FilePlaces {
  return {
    path,
    places: ranges.map(({ start, end }) => {
      const text = textAt(lines, start.line);
      return [start.line + 1, start.character + 1, end.line + 1, end.character + 1, text];
    }),
  };
}

/** Empty if the line cannot be read. */
export function textAt(lines: readonly string[], line: number): string {
  const text = lines[line] ?? '';
  return (text.endsWith('\r') ? text.slice(0, -1) : text).slice(0, maxTextLength);
}

/** Reads each file once. No lines if the file cannot be read or is outside of the project. */
export function linesOf(servers: LanguageServers): LinesOf {
  const known = new Map<string, readonly string[]>();
  return (path) => {
    const lines = known.get(path) ?? linesAt(servers, path);
    known.set(path, lines);
    return lines;
  };
}

function linesAt(servers: LanguageServers, path: string): readonly string[] {
  try {
    return servers.lines(path);
  } catch {
    return [];
  }
}
