/**
 * The text of a task file: read with the line of each problem, and changed so that a diff shows the changed stories
 * alone.
 */
import { Fault } from '../../../model/fault.ts';
import { pathText, type ShapeError } from '../../../model/shape.ts';
import {
  applyEdits,
  type JsonEdit,
  JsonError,
  type JsonNode,
  lineOf,
  nearestNode,
  nodeAt,
  parseJsonText,
  setMember,
} from '../../workspace/model/json-text.ts';
import type { StoryStatus } from './message.ts';
import { checkTaskFile, type TaskFile } from './task.ts';
import type { TaskProblem } from './task-problem.ts';

export interface TaskText {
  readonly text: string;
  readonly root: JsonNode;
  readonly file: TaskFile;
}

export type TaskReading = TaskText | { readonly problems: readonly TaskProblem[] };

/** A longer list does not help to correct the file. */
const maxProblems = 50;

export function readTaskText(text: string): TaskReading {
  const root = parse(text);
  if ('problems' in root) return root;
  const checked = checkTaskFile(root.value);
  if ('file' in checked) return { text, root, file: checked.file };
  return { problems: checked.problems.slice(0, maxProblems).map((error) => problemOf(error, text, root)) };
}

function parse(text: string): JsonNode | { readonly problems: readonly TaskProblem[] } {
  try {
    return parseJsonText(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const at = Math.min(error.offset, text.trimEnd().length);
    return { problems: [{ line: lineOf(text, at), path: '', reason: `not JSON: ${error.message}` }] };
  }
}

function problemOf({ path, reason }: ShapeError, text: string, root: JsonNode): TaskProblem {
  return { line: lineOf(text, nearestNode(root, path).start), path: pathText(path), reason };
}

export interface StoryChange {
  readonly id: string;
  readonly status: StoryStatus;
  /** Absent: the notes stay. */
  readonly notes?: string | undefined;
}

/** The text with these stories changed and every other character as it was. */
export function withStories({ text, root, file }: TaskText, changes: readonly StoryChange[]): string {
  const edits = changes.flatMap(({ id, status, notes }): JsonEdit[] => {
    const index = file.userStories.findIndex((story) => story.id === id);
    const node = nodeAt(root, ['userStories', index]);
    if (!node) throw new Fault('not_found', `there is no story ${id}`);
    return [
      setMember(text, node, 'status', status),
      ...(notes === undefined ? [] : [setMember(text, node, 'notes', notes)]),
    ];
  });
  return applyEdits(text, edits);
}
