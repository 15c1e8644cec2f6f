/** Tools that change many files at once. */
import { z } from 'zod';
import type { Project } from '../../../project/model/project.ts';
import type { FileChange, RangeEdit, TextEdit } from '../../model/edit.ts';
import type { ProjectEdit } from '../edits.ts';
import { edit, editOf, encoding, expectedHash } from './text-edit.ts';
import { dryRun, type HubTool, path, project, tool } from './tool.ts';
import { inProject } from './view.ts';

const at = z.int().min(1);
const range = z
  .strictObject({ start_line: at, start_column: at, end_line: at, end_column: at, new_text: z.string() })
  .describe('replaces the text between two positions');
const overwrite = z.boolean().default(false);
const change = z.discriminatedUnion('kind', [
  z.strictObject({
    ...{ kind: z.literal('edit'), project, path, expected_hash: expectedHash },
    edits: z
      .array(z.union([range, edit]))
      .min(1)
      .max(5000),
  }),
  z.strictObject({ kind: z.literal('create'), project, path, content: z.string(), encoding, overwrite }),
  z.strictObject({ kind: z.literal('rename'), project, path, to: path, overwrite }),
  z.strictObject({
    ...{ kind: z.literal('delete'), project, path, expected_hash: expectedHash },
    recursive: z.boolean().default(false),
  }),
]);

export const editOutput = {
  files: z.array(
    z.object({
      project: z.string(),
      path: z.string(),
      outcome: z.string(),
      to: z.string().nullable(),
      hash: z.string().nullable(),
    }),
  ),
  count: z.int().describe('of all files; at most 1000 of a project are listed'),
  diff: z.string().optional(),
  diff_truncated: z.boolean().optional(),
  dry_run: z.boolean(),
};

export const refactorTools: readonly HubTool[] = [
  tool({
    name: 'apply_workspace_edit',
    group: 'code',
    description:
      'Change, create, rename and delete files of one or more projects: all of it or nothing. dry_run answers a diff.',
    changes: true,
    destroys: true,
    input: z.strictObject({ changes: z.array(change).min(1).max(2000), dry_run: dryRun }),
    output: z.object(editOutput),
    run: async ({ changes, dry_run }, scope, call) => {
      const edits = changes.map((one) => ({ project: one.project, change: changeOf(one, scope.find(one.project)) }));
      return editedOf(await scope.edit(edits, dry_run, call), dry_run);
    },
  }),
];

function changeOf(input: z.output<typeof change>, place: Project): FileChange {
  const where = inProject(place, input.path);
  if (input.kind === 'edit')
    return { kind: 'edit', path: where, edits: input.edits.map(anyEditOf), expectedHash: input.expected_hash };
  if (input.kind === 'create') {
    const content = { encoding: input.encoding, content: input.content };
    return { kind: 'create', path: where, content, overwrite: input.overwrite };
  }
  if (input.kind === 'rename')
    return { kind: 'rename', path: where, to: inProject(place, input.to), overwrite: input.overwrite };
  return { kind: 'delete', path: where, recursive: input.recursive, expectedHash: input.expected_hash };
}

function anyEditOf(input: z.output<typeof range> | z.output<typeof edit>): TextEdit | RangeEdit {
  if (!('start_column' in input)) return editOf(input);
  return {
    ...{ startLine: input.start_line, startColumn: input.start_column },
    ...{ endLine: input.end_line, endColumn: input.end_column, newText: input.new_text },
  };
}

export function editedOf(edits: readonly ProjectEdit[], dry_run: boolean) {
  const files = edits.flatMap(({ project: id, files: ofProject }) => ofProject.map((one) => ({ project: id, ...one })));
  const count = edits.reduce((sum, one) => sum + one.count, 0);
  if (!dry_run) return { files, count, dry_run };
  const several = edits.length > 1;
  const diff = edits.map((one) => (several ? `# project ${one.project}\n${one.diff}` : one.diff)).join('');
  return { files, count, diff, diff_truncated: edits.some(({ diffTruncated }) => diffTruncated), dry_run };
}
