/** Symbols of a document, as a tree, from either of the two forms that servers use. */
import { open, type Shape, ShapeError, text, whole } from '../../../../../model/shape.ts';
import { listOf, type Position, type Range, range, textOrNone, uri } from './answer.ts';

export interface DocumentSymbol {
  readonly name: string;
  readonly kind: number;
  readonly detail: string;
  readonly range: Range;
  readonly selectionRange: Range;
  readonly children: readonly DocumentSymbol[];
}

const maxDepth = 60;
const name = text({ max: 10_000 });
const kind = whole(0, 1000);
const nested = open({ name, kind, range, selectionRange: range }, { detail: textOrNone(100_000) });
const flat = open({ name, kind, location: open({ uri, range }) }, { containerName: textOrNone(10_000) });

const documentSymbol: Shape<DocumentSymbol> = (value, path) => {
  if (path.length > 2 * maxDepth) throw new ShapeError(path, 'is nested too deeply');
  if (typeof value === 'object' && value !== null && 'location' in value) return flatSymbol(value, path);
  const { detail = '', ...rest } = nested(value, path);
  const children = listOf(documentSymbol)((value as { children?: unknown }).children, [...path, 'children']);
  return { ...rest, detail, children };
};

const flatSymbol: Shape<DocumentSymbol> = (value, path) => {
  const { location, containerName = '', ...rest } = flat(value, path);
  return { ...rest, detail: containerName, range: location.range, selectionRange: location.range, children: [] };
};

const kinds = [
  ...['file', 'module', 'namespace', 'package', 'class', 'method', 'property', 'field', 'constructor', 'enum'],
  ...['interface', 'function', 'variable', 'constant', 'string', 'number', 'boolean', 'array', 'object', 'key', 'null'],
  ...['enum member', 'struct', 'event', 'operator', 'type parameter'],
];

export function symbolKind(number: number): string {
  return kinds[number - 1] ?? 'unknown';
}

/** A symbol of `workspace/symbol`. Some servers leave out the range until a client asks for it. */
export const workspaceSymbol = open(
  { name, kind, location: open({ uri }, { range }) },
  { containerName: textOrNone(10_000) },
);

/** The symbols of a document as a tree. In the flat form, a symbol belongs to the one whose range contains it. */
export const documentSymbols: Shape<readonly DocumentSymbol[]> = (value, path) => {
  const symbols = listOf(documentSymbol)(value, path);
  return symbols.some(({ children }) => children.length > 0) ? symbols : asTree(symbols);
};

interface Branch extends DocumentSymbol {
  readonly children: Branch[];
}

function asTree(symbols: readonly DocumentSymbol[]): DocumentSymbol[] {
  const roots: Branch[] = [];
  const above: Branch[] = [];
  const branches = symbols.map((symbol): Branch => ({ ...symbol, children: [] }));
  for (const branch of branches.sort(
    (a, b) => compare(a.range.start, b.range.start) || compare(b.range.end, a.range.end),
  )) {
    while (above.length > 0 && compare(above.at(-1)!.range.end, branch.range.end) < 0) above.pop();
    (above.at(-1)?.children ?? roots).push(branch);
    above.push(branch);
  }
  return roots;
}

function compare(a: Position, b: Position): number {
  return a.line - b.line || a.character - b.character;
}

/** The symbols that a path such as `Class/method` names, in the order of the document. */
export function symbolsAt(symbols: readonly DocumentSymbol[], path: string): DocumentSymbol[] {
  const [first, ...rest] = path.split('/').filter((part) => part !== '');
  const found = symbols.filter((symbol) => plainName(symbol.name) === first);
  return rest.length === 0 ? found : found.flatMap(({ children }) => symbolsAt(children, rest.join('/')));
}

/** The name without the parameters that some servers add. */
export function plainName(given: string): string {
  return given.replace(/\(.*\)$/s, '');
}

/** The position of the name. Servers that send the flat form report only where the whole symbol begins. */
export function namePosition({ name: given, selectionRange: { start } }: DocumentSymbol, documentText: string) {
  const line = documentText.split('\n')[start.line] ?? '';
  const at = line.indexOf(plainName(given), start.character);
  return { line: start.line, character: at < 0 ? start.character : at };
}
