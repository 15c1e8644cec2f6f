/** Tools that ask language servers. */
import { z } from 'zod';
import { Fault } from '../../../../model/fault.ts';
import {
  type CodeAnswer,
  type CodePage,
  type CodeRange,
  codeStatuses,
  type FilePlaces,
  type LocateKind,
} from '../../model/code.ts';
import {
  cursor,
  type HubTool,
  inProject,
  limit,
  nextCursor,
  path,
  project,
  skipOf,
  type ToolScope,
  tool,
} from './tool.ts';
import { hubPath } from './view.ts';

const timeoutMs = 30_000;
const reads = { group: 'code', changes: false, destroys: false } as const;
const number = z.int().min(1);
const at = {
  ...{ project, path, line: number.optional(), column: number.optional() },
  symbol: z.string().min(1).max(1000).optional().describe('instead of line and column: Class/method'),
};
const pages = { limit, cursor };
const status = z.enum(codeStatuses);
const answered = { status, server: z.string(), version: z.string() };
const text = z.string();
const range = { path: text, line: z.int(), column: z.int(), end_line: z.int(), end_column: z.int() };
const symbol = z.object({ ...range, name: text, kind: text, detail: text });

export const codeTools: readonly HubTool[] = [
  locating('find_definition', 'definition', 'Find where a symbol is defined.'),
  locating('find_references', 'references', 'Find all uses of a symbol.'),
  locating('find_implementations', 'implementation', 'Find implementations of an interface or a method.'),
  locating('find_type_definition', 'typeDefinition', 'Find where the type of a symbol is defined.'),
  tool({
    ...reads,
    name: 'get_hover',
    description: 'Get the type and documentation of a symbol.',
    input: z.strictObject(at),
    output: z.object({ ...answered, text: text.nullable() }),
    run: (input, scope, call) =>
      scope.call(input.project, 'code/hover', { at: positionOf(input, scope), timeoutMs }, call),
  }),
  tool({
    ...reads,
    name: 'get_document_symbols',
    description: 'List the symbols of a file.',
    input: z.strictObject({ project, path, ...pages }),
    output: listing('symbols', symbol),
    run: async (input, scope, call) => {
      const request = { path: inProject(scope.find(input.project), input.path), ...pageOf(input) };
      const page = await scope.call(input.project, 'code/symbols', request, call);
      return listed('symbols', page, request.skip, ranged);
    },
  }),
  tool({
    ...reads,
    name: 'search_workspace_symbols',
    description: 'Search symbols of the project by name.',
    input: z.strictObject({ project, query: text.max(500), path: path.optional(), ...pages }),
    output: z.object({
      ...{ status, servers: z.array(text), symbols: z.array(symbol), next_cursor: nextCursor },
      errors: z.array(z.object({ server: text, message: text })),
    }),
    run: async (input, scope, call) => {
      const where = input.path === undefined ? undefined : inProject(scope.find(input.project), input.path);
      const request = { query: input.query, path: where, ...pageOf(input) };
      const { items, more, ...rest } = await scope.call(input.project, 'code/search', request, call);
      return { ...rest, symbols: items.map(ranged), ...nextOf(items, more, request.skip) };
    },
  }),
  tool({
    ...reads,
    name: 'get_signature_help',
    description: 'Get the parameters of the call at a position.',
    input: z.strictObject(at),
    output: listing('signatures', z.object({ label: text, documentation: text, active_parameter: z.int().nullable() })),
    run: async (input, scope, call) => {
      const page = await scope.call(input.project, 'code/signature', { at: positionOf(input, scope), timeoutMs }, call);
      return listed('signatures', page, 0, ({ activeParameter, ...rest }) => {
        return { ...rest, active_parameter: activeParameter };
      });
    },
  }),
  tool({
    ...reads,
    name: 'get_completions',
    description: 'List what could be written at a position.',
    input: z.strictObject({ ...at, ...pages }),
    output: listing('completions', z.object({ label: text, kind: text, detail: text })),
    run: async (input, scope, call) => {
      const request = { at: positionOf(input, scope), ...pageOf(input) };
      const page = await scope.call(input.project, 'code/complete', request, call);
      return listed('completions', page, request.skip, (one) => one);
    },
  }),
  tool({
    ...reads,
    name: 'get_diagnostics',
    description: 'Get errors and warnings of a file. Only status complete means that there are no others.',
    input: z.strictObject({ project, path, ...pages }),
    output: listing('diagnostics', z.object({ ...range, severity: text, code: text, source: text, message: text })),
    run: async (input, scope, call) => {
      const request = { path: inProject(scope.find(input.project), input.path), ...pageOf(input) };
      const page = await scope.call(input.project, 'code/diagnose', request, call);
      return listed('diagnostics', page, request.skip, ranged);
    },
  }),
  tool({
    ...reads,
    name: 'get_call_hierarchy',
    description: 'List what calls a function, or what it calls.',
    input: z.strictObject({ ...at, direction: z.enum(['incoming', 'outgoing']).default('incoming'), ...pages }),
    output: listing('calls', z.object({ ...range, text, name: text, kind: text })),
    run: async (input, scope, call) => {
      const request = { at: positionOf(input, scope), direction: input.direction, ...pageOf(input) };
      const page = await scope.call(input.project, 'code/calls', request, call);
      return listed('calls', page, request.skip, ranged);
    },
  }),
];

function locating(name: string, kind: LocateKind, description: string): HubTool {
  return tool({
    ...reads,
    name,
    description,
    input: z.strictObject({ ...at, ...pages }),
    output: listing('locations', z.object({ ...range, text })),
    namesHubPaths: true,
    run: async (input, scope, call) => {
      const request = { kind, at: positionOf(input, scope), ...pageOf(input) };
      const { items, ...rest } = await scope.call(input.project, 'code/locate', request, call);
      const located = items.flatMap((file) => placesIn(input.project, file));
      return listed('locations', { ...rest, items: located }, request.skip, (one) => one);
    },
  });
}

function listing(name: string, item: z.ZodType): z.ZodObject {
  return z.object({ ...answered, [name]: z.array(item), next_cursor: nextCursor });
}

function listed<T>(name: string, page: CodePage<T>, skip: number, shown: (item: T) => object): object {
  const { status: state, server, version }: CodeAnswer = page;
  return { status: state, server, version, [name]: page.items.map(shown), ...nextOf(page.items, page.more, skip) };
}

function nextOf(items: readonly unknown[], more: boolean, skip: number): object {
  return more ? { next_cursor: `${skip + items.length}` } : {};
}

function pageOf({ limit: most, cursor: after }: { readonly limit: number; readonly cursor?: string | undefined }) {
  return { limit: most, skip: skipOf(after), timeoutMs };
}

interface At {
  readonly project: string;
  readonly path: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly symbol?: string | undefined;
}

function positionOf({ project: id, path: given, line, column, symbol: name }: At, scope: ToolScope) {
  if ((name === undefined) === (line === undefined || column === undefined)) {
    throw new Fault('invalid', 'either line and column or symbol is needed', { data: { field: 'line' } });
  }
  return { path: inProject(scope.find(id), given), line, column, symbol: name };
}

/** The path is translated once: an answer may have thousands of places in a few files. */
function placesIn(id: string, { path: where, places }: FilePlaces): object[] {
  const shownPath = hubPath(id, where);
  return places.map(([line, column, endLine, endColumn, shown]) => {
    return { path: shownPath, line, column, end_line: endLine, end_column: endColumn, text: shown };
  });
}

function ranged<T extends CodeRange>({ path: where, line, column, endLine, endColumn, ...rest }: T): object {
  return { path: where, line, column, end_line: endLine, end_column: endColumn, ...rest };
}
