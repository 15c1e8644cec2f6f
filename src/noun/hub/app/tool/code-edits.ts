/** Tools that change code as language servers compute it. All of them are applied like `apply_workspace_edit`. */
import { z } from 'zod';
import { Fault, isFault } from '../../../../model/fault.ts';
import type { ToolCall } from '../../hub.ts';
import type { CodeEdit } from '../../model/code-edit.ts';
import type { SpokeMethods } from '../../model/spoke.ts';
import { isSpokeEnd } from '../../spoke/spoke.ts';
import { editedOf, editOutput } from './refactor.ts';
import { dryRun, type HubTool, path, project, type ToolScope, tool } from './tool.ts';
import { inProject } from './view.ts';

const timeoutMs = 60_000;
/** Short, because a file is moved without its imports rather than not at all. */
const moveTimeoutMs = 10_000;
const place = z.int().min(1);
const output = z.object({ ...editOutput, server: z.string() });

export const codeEditTools: readonly HubTool[] = [
  tool({
    name: 'rename_symbol',
    group: 'code',
    description: 'Rename a symbol and all its uses in the project. dry_run answers a diff.',
    changes: true,
    destroys: true,
    input: z.strictObject({
      ...{ project, path, line: place.optional(), column: place.optional() },
      symbol: z.string().min(1).max(1000).optional().describe('instead of line and column: Class/method'),
      new_name: z.string().min(1).max(1000),
      dry_run: dryRun,
    }),
    output,
    run: (input, scope, call) => {
      const { line, column, symbol, new_name: newName } = input;
      if ((symbol === undefined) === (line === undefined || column === undefined))
        throw new Fault('invalid', 'either line and column or symbol is needed', { data: { field: 'line' } });
      const at = { path: inProject(scope.find(input.project), input.path), line, column, symbol };
      return changed({ act: 'rename', at, newName, timeoutMs }, input, scope, call);
    },
  }),
  tool({
    name: 'organize_imports',
    group: 'code',
    description: 'Sort the imports of a file and remove unused ones. dry_run answers a diff.',
    changes: true,
    destroys: true,
    input: z.strictObject({ project, path, dry_run: dryRun }),
    output,
    run: (input, scope, call) =>
      changed(
        { act: 'organizeImports', path: inProject(scope.find(input.project), input.path), timeoutMs },
        input,
        scope,
        call,
      ),
  }),
  tool({
    name: 'format_document',
    group: 'code',
    description: 'Format a file. dry_run answers a diff.',
    changes: true,
    destroys: true,
    input: z.strictObject({
      ...{ project, path, dry_run: dryRun },
      tab_size: z.int().min(1).max(16).default(2),
      insert_spaces: z.boolean().default(true),
    }),
    output,
    run: (input, scope, call) => {
      const { tab_size: tabSize, insert_spaces: insertSpaces } = input;
      const where = inProject(scope.find(input.project), input.path);
      return changed({ act: 'format', path: where, tabSize, insertSpaces, timeoutMs }, input, scope, call);
    },
  }),
  tool({
    name: 'get_code_actions',
    group: 'code',
    description: 'List quick fixes and refactorings for lines of a file, or apply the one whose id is given.',
    changes: true,
    destroys: true,
    input: z.strictObject({
      ...{ project, path, start_line: place.optional(), end_line: place.optional(), dry_run: dryRun },
      apply: z.string().max(16).optional().describe('id of an action'),
    }),
    output: z.object({
      ...z.object(editOutput).partial().shape,
      server: z.string(),
      actions: z.array(z.object({ id: z.string(), title: z.string(), kind: z.string() })).optional(),
    }),
    run: async (input, scope, call) => {
      const where = inProject(scope.find(input.project), input.path);
      const lines = linesOf(input.start_line, input.end_line);
      if (input.apply !== undefined)
        return changed({ act: 'apply', path: where, lines, id: input.apply, timeoutMs }, input, scope, call);
      const request = { path: where, lines, timeoutMs };
      const { server, actions } = await scope.call(input.project, 'code/actions', request, call);
      return { server, actions };
    },
  }),
];

function linesOf(startLine: number | undefined, endLine: number | undefined) {
  return startLine === undefined ? null : { startLine, endLine: endLine ?? startLine };
}

interface EditInput {
  readonly project: string;
  readonly dry_run: boolean;
}

/** The edit carries the hashes of the files that it was computed from, so that no stale edit is applied. */
export async function changed(request: CodeEdit, input: EditInput, scope: ToolScope, call: ToolCall) {
  return applied(await scope.call(input.project, 'code/edit', request, call), input, scope, call);
}

type Computed = SpokeMethods['code/edit'][1];

async function applied(
  { changes, server }: Computed,
  { project: id, dry_run }: EditInput,
  scope: ToolScope,
  call: ToolCall,
) {
  const ofProject = changes.map((change) => ({ project: id, change }));
  const edits = ofProject.length === 0 ? [] : await scope.edit(ofProject, dry_run, call);
  return { ...editedOf(edits, dry_run), server };
}

/** Moves a file or a folder and updates imports of it; a string says why no language server can update them. */
export async function movedWithImports(from: string, to: string, input: EditInput, scope: ToolScope, call: ToolCall) {
  const request = { act: 'moveFile', path: from, to, timeoutMs: moveTimeoutMs } as const;
  const computed = await scope.call(input.project, 'code/edit', request, call).catch(reasonOf);
  return typeof computed === 'string' ? computed : applied(computed, input, scope, call);
}

/** The reason if a language server cannot do it. The end of the spoke is thrown. */
function reasonOf(error: unknown): string {
  if (isFault(error, 'unsupported') || (isFault(error, 'unavailable') && !isSpokeEnd(error))) return error.message;
  throw error;
}
