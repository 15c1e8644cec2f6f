/**
 * Shapes of what servers answer. Answers are not trusted: each shape checks what is read and drops everything else. Here are
 * positions, ranges and lists; symbols, diagnostics and edits have files of their own. `location-list.ts` parses only the page
 * of a long list that is shown.
 */
import { Fault } from '../../../../../model/fault.ts';
import { list, open, type Shape, ShapeError, text, whole } from '../../../../../model/shape.ts';
import type { LspAnswer } from '../lsp.ts';
import type { Location, Position, Range } from './location.ts';
import { type LocationList, ParsedLocations, WrittenLocations } from './location-list.ts';

const maxItems = 200_000;
const maxUriLength = 5000;
const maxPlace = 0x7fffffff;
const place = whole(0, maxPlace);

export type { Location, Position, Range };

export const position: Shape<Position> = open({ line: place, character: place });
export const range: Shape<Range> = open({ start: position, end: position });
export const uri = text({ max: maxUriLength });
const location: Shape<Location> = open({ uri, range });
const locationLink = open({ targetUri: uri, targetSelectionRange: range });

/** A location, or a link to one. */
const locationOrLink: Shape<Location> = (value, path) => {
  if (typeof value !== 'object' || value === null || !('targetUri' in value)) return location(value, path);
  const link = locationLink(value, path);
  return { uri: link.targetUri, range: link.targetSelectionRange };
};

/** One or several; null for none. Most lists are of plain locations and may have thousands, so these are checked without a copy. */
export const locations: Shape<LocationList> = (value, path) => {
  if (value instanceof WrittenLocations) return value;
  const isPlain = Array.isArray(value) && value.length <= maxItems && value.every(isLocation);
  return new ParsedLocations(isPlain ? value : listOf(locationOrLink)(value, path));
};

function isLocation(value: unknown): value is Location {
  const { uri: where, range: at } = (value ?? {}) as Partial<Location>;
  return typeof where === 'string' && where.length <= maxUriLength && isPosition(at?.start) && isPosition(at?.end);
}

function isPosition(value: Position | undefined): boolean {
  return isPlace(value?.line) && isPlace(value?.character);
}

function isPlace(value: number | undefined): boolean {
  return Number.isInteger(value) && value! >= 0 && value! <= maxPlace;
}

/** Null, which some servers send where a field should be left out, is empty text. */
export function textOrNone(max: number): Shape<string> {
  const shape = text({ max });
  return (value, path) => (value === null || value === undefined ? '' : shape(value, path));
}

/** Text, marked text or a list of them, as hovers and documentation have it. */
export const markup: Shape<string> = (value, path) => {
  if (Array.isArray(value)) return value.map((one, index) => markup(one, [...path, index])).join('\n\n');
  if (typeof value === 'object' && value !== null && 'value' in value) return markup(value.value, [...path, 'value']);
  return textOrNone(1_000_000)(value, path);
};

/** One or several; null for none. */
export function listOf<T>(shape: Shape<T>): Shape<readonly T[]> {
  const several = list(shape, maxItems);
  return (value, path) => {
    if (value === null || value === undefined) return [];
    return Array.isArray(value) ? several(value, path) : [shape(value, path)];
  };
}

/** The result of an answer, checked. */
export function resultOf<T>({ server, result }: LspAnswer, shape: Shape<T>): T {
  try {
    return shape(result, []);
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    throw new Fault(
      'internal',
      `the language server ${server} sent an answer that is not understood: ${error.message}`,
    );
  }
}
