/** What requests and answers about task files look like. */

import { z } from 'zod';
import { storyIdPattern, storyStatuses } from '../model/message.ts';

const path = z.string().startsWith('/').max(4096);
const storyId = z.string().regex(storyIdPattern);
const status = z.enum(storyStatuses);

export const progressView = z.strictObject({
  total: z.int(),
  completed: z.int(),
  failed: z.int(),
  inProgress: z.int(),
  pending: z.int(),
  skipped: z.int(),
});

export const projectQuery = z.strictObject({ project: path });
export const taskQuery = z.strictObject({ file: path });

const problemView = z.strictObject({ line: z.int(), path: z.string(), reason: z.string() });

/** One task file of a project. An invalid file has problems instead of content. */
export const taskEntryView = z.strictObject({
  /** The path relative to the project's folder. */
  file: z.string(),
  title: z.string().nullable(),
  branchName: z.string().nullable(),
  progress: progressView.nullable(),
  problems: z.array(problemView),
});

export const storyView = z.strictObject({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  acceptanceCriteria: z.array(z.string()),
  priority: z.number(),
  status,
  dependsOn: z.array(z.string()),
  notes: z.string().nullable(),
  /** True: the story is pending, and no other story blocks it. */
  ready: z.boolean(),
  /** The stories that it waits for. */
  waitsFor: z.array(z.string()),
});

export const taskView = z.strictObject({
  file: z.string(),
  title: z.string(),
  type: z.string(),
  branchName: z.string(),
  createdAt: z.string(),
  maxConcurrency: z.int(),
  progress: progressView,
  /** In the order of the file. */
  stories: z.array(storyView),
  /** Ids of stories that can be begun, the most urgent first. */
  ready: z.array(z.string()),
});

export const markRequest = z.strictObject({
  file: path,
  story: storyId,
  status,
  notes: z.string().max(10_000).optional(),
  /** Mark the story although stories that it depends on are open. */
  force: z.boolean().optional(),
});

export const skipRequest = z.strictObject({ file: path, story: storyId });

/** The ids of the stories that were changed, and the file after it. */
export const changedView = z.strictObject({ changed: z.array(z.string()), task: taskView });

export type TaskEntryView = z.output<typeof taskEntryView>;
export type TaskView = z.output<typeof taskView>;
export type StoryView = z.output<typeof storyView>;
export type ChangedStoriesView = z.output<typeof changedView>;
