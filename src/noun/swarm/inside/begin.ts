/**
 * Decides where the work on a task file starts or resumes: from the record of an earlier run, the branch and the task
 * file. A commit that was about to land is landed. All other work in progress is done again from the tip.
 */
import { readFileSync, statSync } from 'node:fs';
import { basename, isAbsolute, join } from 'node:path';
import { AdapterError } from '../../agent/inside/adapter-error.ts';
import type { TaskRequest } from '../model/message.ts';
import type { Outcome, StoryRecord } from '../model/outcome.ts';
import { checkTaskFile, maxTaskFileBytes, type Story, type TaskFile } from '../model/task.ts';
import type { Branch } from './checkout/branch.ts';
import type { OutcomeRecord } from './outcome-record.ts';

/** Reads it from the first folder that has it: the read-only project comes before folders that the agent can write. */
export function readTaskFile(path: string, folders: readonly string[]): TaskFile {
  if (path.split('/').includes('..'))
    throw new AdapterError('INVALID_INPUT', `payload.taskFilePath: ${path} leaves the repository`);
  const candidates = isAbsolute(path) ? [path] : folders.map((folder) => join(folder, path));
  const found = candidates.find((one) => statSync(one, { throwIfNoEntry: false })?.isFile());
  if (found === undefined)
    throw new AdapterError('TASK_FILE_NOT_FOUND', `there is no task file ${candidates.join(' or ')}`);
  if (statSync(found).size > maxTaskFileBytes) {
    throw new AdapterError('TASK_FILE_INVALID', `${found}: has more than ${maxTaskFileBytes} bytes`);
  }
  const check = checkTaskFile(parse(found));
  if ('file' in check) return check.file;
  throw new AdapterError('TASK_FILE_INVALID', `${found}: ${check.problems.map(({ message }) => message).join('; ')}`);
}

function parse(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new AdapterError('TASK_FILE_INVALID', `${path}: ${(error as Error).message}`);
  }
}

/** The name of the task in commits. */
export function taskNameOf(taskFilePath: string): string {
  return basename(taskFilePath)
    .replace(/(-tasks)?\.json$/, '')
    .trim();
}

export function freshOutcome(swarmId: string, { taskFilePath, branchName }: TaskRequest): Outcome {
  return {
    version: '1.0',
    swarmId,
    taskFilePath,
    branchName,
    base: null,
    tip: null,
    landing: null,
    stories: {},
    completion: null,
  };
}

export function isOf(outcome: Outcome, { taskFilePath, branchName }: TaskRequest): boolean {
  return outcome.taskFilePath === taskFilePath && outcome.branchName === branchName;
}

export interface TaskOnBranch {
  readonly branch: Branch;
  readonly task: TaskFile;
  readonly taskName: string;
}

/** Updates the record: afterwards it has every story that is done, and no other. */
export async function reconcileRecord(record: OutcomeRecord, on: TaskOnBranch): Promise<void> {
  const { branch, task, taskName } = on;
  const { outcome } = record;
  const there = await branch.open(taskName);
  const tip = await firstExisting(branch, [outcome.landing?.commit, outcome.tip], there);
  if (tip !== there) await branch.move(tip);
  const landed = await branch.storiesOn(taskName);
  const done = task.userStories.flatMap((story) => {
    const recorded = recordedOf(story, outcome, landed.get(story.id) ?? null);
    return recorded === null ? [] : [[story.id, recorded] as const];
  });
  record.change({
    base: outcome.base ?? tip,
    tip,
    landing: null,
    stories: Object.fromEntries(done),
    completion: null,
  });
}

async function firstExisting(
  branch: Branch,
  commits: readonly (string | null | undefined)[],
  otherwise: string,
): Promise<string> {
  for (const commit of commits) if (commit && (await branch.has(commit))) return commit;
  return otherwise;
}

/** Null: the story has to be done, or tried again. */
function recordedOf(story: Story, outcome: Outcome, commit: string | null): StoryRecord | null {
  const before = outcome.stories[story.id];
  if (commit !== null) return { status: 'completed', output: before?.output ?? '', commit };
  if (story.status === 'skipped' || story.status === 'completed') {
    return { status: story.status, output: before?.output ?? '', commit: before?.commit ?? null };
  }
  return null;
}
