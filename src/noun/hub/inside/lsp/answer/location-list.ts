/**
 * Locations in an answer, by file. There may be tens of thousands, of which a page is shown, and parsing them all takes
 * longer than the rest of the call. So a long list is split, checked and kept as the text that the server wrote; the
 * ranges of a file are parsed when they are requested.
 */
import type { Location, Range } from './location.ts';

export interface LocationList {
  uris(): Iterable<string>;
  /** Not sorted. Empty: the list does not have the file. */
  rangesIn(uri: string): Range[];
}

const rangeKey = '","range":';
const separator = '{"uri":"';
const minSplitLength = 4000;
const maxSplit = 200_000;
const beginning = /^\{"jsonrpc":"2\.0","id":(\d{1,9}),"result":\[$/;
const end = ']}';
/** The text between two separators. The URI has no escapes, so it needs no parsing. */
const rest = locationRest();

function locationRest(): RegExp {
  const place = '(?:0|[1-9]\\d{0,8})';
  const position = `\\{"line":${place},"character":${place}\\}`;
  return new RegExp(`^[ !#-[\\]-\uffff]{0,5000}${rangeKey}\\{"start":${position},"end":${position}\\}\\},$`);
}

export class WrittenLocations implements LocationList {
  /** `URI","range":{…}},` */
  readonly #byUri: ReadonlyMap<string, readonly string[]>;

  constructor(byUri: ReadonlyMap<string, readonly string[]>) {
    this.#byUri = byUri;
  }

  uris(): Iterable<string> {
    return this.#byUri.keys();
  }

  rangesIn(uri: string): Range[] {
    const written = this.#byUri.get(uri) ?? [];
    const ranges = written.map((one) => one.slice(uri.length + rangeKey.length, -2));
    return JSON.parse(`[${ranges.join(',')}]`) as Range[];
  }
}

export class ParsedLocations implements LocationList {
  readonly #byUri = new Map<string, Range[]>();

  constructor(locations: readonly Location[]) {
    for (const { uri, range } of locations) {
      const known = this.#byUri.get(uri);
      if (known) known.push(range);
      else this.#byUri.set(uri, [range]);
    }
  }

  uris(): Iterable<string> {
    return this.#byUri.keys();
  }

  rangesIn(uri: string): Range[] {
    return [...(this.#byUri.get(uri) ?? [])];
  }
}

/** A message of a server. The result of a response that is a long list of locations is a `WrittenLocations`. */
export function parseMessage(text: string): unknown {
  return splitResponse(text) ?? JSON.parse(text);
}

/** Null: the message is something else, or is formatted in another way. */
function splitResponse(text: string): object | null {
  if (text.length < minSplitLength || !text.endsWith(end)) return null;
  const locations = `${text.slice(0, -end.length)},`.split(separator);
  const id = beginning.exec(locations.shift()!)?.[1];
  if (id === undefined || locations.length > maxSplit) return null;
  const byUri = groupedByUri(locations);
  return byUri && { jsonrpc: '2.0', id: Number(id), result: new WrittenLocations(byUri) };
}

function groupedByUri(locations: readonly string[]): Map<string, string[]> | null {
  const byUri = new Map<string, string[]>();
  for (const one of locations) {
    if (!rest.test(one)) return null;
    const uri = one.slice(0, one.indexOf('"'));
    const known = byUri.get(uri);
    if (known) known.push(one);
    else byUri.set(uri, [one]);
  }
  return byUri;
}
