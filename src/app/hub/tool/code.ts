/** Tools that ask language servers. */
import { z } from 'zod';
import type { CodeAnswer, CodePlace, LocateKind } from '../../../model/code.ts';
import { Fault } from '../../../model/fault.ts';
import { cursor, type HubTool, inProject, limit, nextCursor, path, project, skipOf, tool } from './tool.ts';

const timeoutMs = 30_000;
const at = {
  line: z.int().min(1).optional(),
  column: z.int().min(1).optional(),
  symbol: z.string().min(1).max(1000).optional().describe('instead of line and column: Class/method'),
};
const answered = {
  status: z.enum(['complete', 'indexing', 'timed_out']),
  server: z.string(),
  version: z.string().describe('hash of the file'),
};
const place = z.object({
  path: z.string(),
  line: z.int(),
  column: z.int(),
  end_line: z.int(),
  end_column: z.int(),
  text: z.string(),
});

export const codeTools: readonly HubTool[] = [
  locating('find_definition', 'definition', 'Find where a symbol is defined.'),
];

function locating(name: string, kind: LocateKind, description: string): HubTool {
  return tool({
    name,
    group: 'code',
    description,
    changes: false,
    destroys: false,
    input: z.strictObject({ project, path, ...at, limit, cursor }),
    output: z.object({ ...answered, locations: z.array(place), next_cursor: nextCursor }),
    run: async (input, scope, call) => {
      const skip = skipOf(input.cursor);
      const asked = { kind, at: positionOf(input), limit: input.limit, skip, timeoutMs };
      const { items, more, ...answer } = await scope.call(input.project, 'code/locate', asked, call);
      return {
        ...answerOf(answer),
        locations: items.map(placeOf),
        ...(more ? { next_cursor: `${skip + items.length}` } : {}),
      };
    },
  });
}

interface At {
  readonly project: string;
  readonly path: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  readonly symbol?: string | undefined;
}

function positionOf({ project: id, path: given, line, column, symbol }: At) {
  if ((symbol === undefined) === (line === undefined || column === undefined)) {
    throw new Fault('invalid', 'either line and column or symbol is needed', { data: { field: 'line' } });
  }
  return { path: inProject(id, given), line, column, symbol };
}

function answerOf({ status, server, version }: CodeAnswer): CodeAnswer {
  return { status, server, version };
}

function placeOf({ endLine, endColumn, ...rest }: CodePlace) {
  return { ...rest, end_line: endLine, end_column: endColumn };
}
