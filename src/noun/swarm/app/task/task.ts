/** Task files and their stories. */
import { z } from 'zod';
import { declare } from '../../../../kernel/server/route.ts';
import * as shape from '../../api/task.ts';
import type { UserTasks } from './user-tasks.ts';

export interface TaskScope {
  readonly tasks: UserTasks;
}

const { noun, route } = declare<TaskScope>();

export const task = noun({
  routes: [
    route('GET /v1/tasks', {
      id: 'listTasks',
      summary: 'The task files of a project, with the mistakes in them',
      query: shape.projectQuery,
      answer: z.array(shape.taskEntryView),
      act: null,
      handle: async ({ scope, query }) => scope.tasks.list(query.project),
    }),
    route('GET /v1/tasks/file', {
      id: 'showTask',
      summary: 'One task file and its stories',
      query: shape.taskQuery,
      answer: shape.taskView,
      act: null,
      handle: async ({ scope, query }) => scope.tasks.show(query.file),
    }),
    route('POST /v1/tasks/mark', {
      id: 'markStory',
      summary: 'Change the status of a story',
      body: shape.markRequest,
      answer: shape.changedView,
      act: ({ body: { file, story, status, notes } }) => ({
        verb: 'task.mark',
        names: [story],
        words: { '--notes': [notes] },
        detail: { file, status },
      }),
      handle: ({ scope, body }) => scope.tasks.mark(body),
    }),
    route('POST /v1/tasks/skip', {
      id: 'skipStory',
      summary: 'Skip a story and the pending stories that depend on it',
      body: shape.skipRequest,
      answer: shape.changedView,
      act: ({ body: { file, story } }) => ({ verb: 'task.skip', names: [story], detail: { file } }),
      done: ({ changed }) => ({ targets: changed.map((name) => ({ name })) }),
      handle: ({ scope, body }) => scope.tasks.skip(body.file, body.story),
    }),
    route('POST /v1/tasks/reset', {
      id: 'resetStories',
      summary: 'Mark stories as failed that are in progress without a worker',
      body: shape.taskQuery,
      answer: shape.changedView,
      act: ({ body: { file } }) => ({ verb: 'task.reset', names: [], detail: { file } }),
      done: ({ changed }) => ({ targets: changed.map((name) => ({ name })) }),
      handle: ({ scope, body }) => scope.tasks.reset(body.file),
    }),
  ],
});
