/** Tools for files. */
import { z } from 'zod';
import { Fault } from '../../../../model/fault.ts';
import { movedWithImports } from './code-edits.ts';
import { edit, editOf, encoding, expectedHash, line } from './text-edit.ts';
import { cursor, dryRun, type HubTool, limit, nextCursor, path, project, skipOf, tool } from './tool.ts';
import { inProject } from './view.ts';

const changed = z.object({ paths: z.array(z.string()), dry_run: z.boolean() });
const written = z.object({
  path: z.string(),
  hash: z.string(),
  size_bytes: z.int(),
  created: z.boolean(),
  dry_run: z.boolean(),
});

export const fileTools: readonly HubTool[] = [
  tool({
    name: 'read_file',
    group: 'files',
    description: 'Read a file, or some of its lines. Binary files come as base64.',
    changes: false,
    destroys: false,
    input: z.strictObject({ project, path, start_line: line.optional(), end_line: line.optional() }),
    output: z.object({
      path: z.string(),
      content: z.string(),
      encoding: z.string(),
      hash: z.string(),
      size_bytes: z.int(),
      lines: z.int().nullable(),
      truncated: z.boolean(),
    }),
    run: async (input, scope, call) => {
      const request = {
        path: inProject(scope.find(input.project), input.path),
        startLine: input.start_line,
        endLine: input.end_line,
      };
      const { sizeBytes, ...rest } = await scope.call(input.project, 'file/read', request, call);
      return { ...rest, size_bytes: sizeBytes };
    },
  }),
  tool({
    name: 'write_file',
    group: 'files',
    description: 'Change a file: give its whole content, or edits. Written as a whole or not at all.',
    changes: true,
    destroys: true,
    input: z.strictObject({
      ...{ project, path, encoding, expected_hash: expectedHash, dry_run: dryRun },
      content: z.string().optional(),
      edits: z.array(edit).min(1).max(200).optional(),
    }),
    output: written,
    run: async (input, scope, call) => {
      if ((input.content === undefined) === (input.edits === undefined)) {
        throw new Fault('invalid', 'write_file needs either content or edits', { data: { field: 'content' } });
      }
      const { content, edits } = input;
      return writtenOf(
        await scope.call(
          input.project,
          'file/write',
          {
            path: inProject(scope.find(input.project), input.path),
            content: content === undefined ? undefined : { encoding: input.encoding, content },
            edits: edits?.map(editOf),
            expectedHash: input.expected_hash,
            isNew: false,
            dryRun: input.dry_run,
          },
          call,
        ),
      );
    },
  }),
  tool({
    name: 'create_file',
    group: 'files',
    description: 'Create a file, and the folders on the way. Refused if it exists.',
    changes: true,
    destroys: false,
    input: z.strictObject({ project, path, content: z.string(), encoding, dry_run: dryRun }),
    output: written,
    run: async ({ project: id, path: given, content, encoding: how, dry_run }, scope, call) => {
      const request = {
        path: inProject(scope.find(id), given),
        content: { encoding: how, content },
        isNew: true,
        dryRun: dry_run,
      };
      return writtenOf(await scope.call(id, 'file/write', request, call));
    },
  }),
  tool({
    name: 'delete_file',
    group: 'files',
    description: 'Delete a file or a folder.',
    changes: true,
    destroys: true,
    input: z.strictObject({
      ...{ project, path, expected_hash: expectedHash, dry_run: dryRun },
      recursive: z.boolean().default(false),
    }),
    output: changed,
    run: async ({ project: id, path: given, recursive, expected_hash, dry_run }, scope, call) => {
      const request = {
        path: inProject(scope.find(id), given),
        recursive,
        expectedHash: expected_hash,
        dryRun: dry_run,
      };
      return changedOf(await scope.call(id, 'file/remove', request, call));
    },
  }),
  tool({
    name: 'rename_file',
    group: 'files',
    description: 'Rename or move a file or a folder, and update imports of it where a language server can.',
    changes: true,
    destroys: true,
    input: z.strictObject({
      ...{ project, from: path, to: path, overwrite: z.boolean().default(false), dry_run: dryRun },
      update_imports: z.boolean().default(true),
    }),
    output: changed.extend({ diff: z.string().optional(), imports_not_updated: z.string().optional() }),
    run: async (input, scope, call) => {
      const { project: id, overwrite, dry_run, update_imports } = input;
      const place = scope.find(id);
      const request = {
        from: inProject(place, input.from),
        to: inProject(place, input.to),
        overwrite,
        dryRun: dry_run,
      };
      const withImports = update_imports && !overwrite;
      const moved = withImports ? await movedWithImports(request.from, request.to, input, scope, call) : null;
      if (moved === null || typeof moved === 'string') {
        const plain = changedOf(await scope.call(id, 'file/rename', request, call));
        return moved === null ? plain : { ...plain, imports_not_updated: moved };
      }
      const paths = [...new Set([request.from, request.to, ...moved.files.map((file) => file.path)])];
      return { paths, dry_run, ...('diff' in moved ? { diff: moved.diff } : {}) };
    },
  }),
  tool({
    name: 'list_files',
    group: 'files',
    description: 'List files and folders below a path.',
    changes: false,
    destroys: false,
    input: z.strictObject({ project, path: path.default(''), depth: z.int().min(1).max(64).default(1), limit, cursor }),
    output: z.object({
      files: z.array(z.object({ path: z.string(), kind: z.string(), size_bytes: z.int() })),
      next_cursor: nextCursor,
    }),
    run: async (input, scope, call) => {
      const { project: id, depth, limit: most, cursor: after } = input;
      const request = { path: inProject(scope.find(id), input.path), depth, limit: most, after };
      const { items, more } = await scope.call(id, 'file/list', request, call);
      const files = items.map(({ sizeBytes, ...rest }) => ({ ...rest, size_bytes: sizeBytes }));
      return { files, ...(more ? { next_cursor: items.at(-1)!.path } : {}) };
    },
  }),
  tool({
    name: 'search_text',
    group: 'files',
    description: 'Search text with ripgrep. Ignored files are left out.',
    changes: false,
    destroys: false,
    input: z.strictObject({
      project,
      pattern: z.string().min(1).max(2000).describe('regular expression'),
      path: path.default(''),
      literal: z.boolean().default(false),
      ignore_case: z.boolean().default(false),
      globs: z.array(z.string().min(1).max(300)).max(20).default([]),
      limit,
      cursor,
    }),
    output: z.object({
      matches: z.array(z.object({ path: z.string(), line: z.int(), column: z.int(), text: z.string() })),
      next_cursor: nextCursor,
    }),
    run: async (input, scope, call) => {
      const skip = skipOf(input.cursor);
      const { pattern, literal, ignore_case, globs, limit: most } = input;
      const where = inProject(scope.find(input.project), input.path);
      const request = { pattern, path: where, isLiteral: literal, ignoreCase: ignore_case, globs, limit: most, skip };
      const { items, more } = await scope.call(input.project, 'text/search', request, call);
      return { matches: items, ...(more ? { next_cursor: String(skip + items.length) } : {}) };
    },
  }),
];

function changedOf({ paths, dryRun: dry_run }: { readonly paths: readonly string[]; readonly dryRun: boolean }) {
  return { paths, dry_run };
}

function writtenOf(result: { path: string; hash: string; sizeBytes: number; created: boolean; dryRun: boolean }) {
  const { sizeBytes, dryRun: dry_run, ...rest } = result;
  return { ...rest, size_bytes: sizeBytes, dry_run };
}
