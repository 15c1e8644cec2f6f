/** Folders of the host that are registered for the hub. */
import { z } from 'zod';
import { declare, definedDetail, named } from '../../../kernel/server/route.ts';
import * as shape from '../api.ts';
import type { Projects } from '../project.ts';

export interface ProjectScope {
  readonly projects: Projects;
}

const { noun, route } = declare<ProjectScope>();

export const project = noun({
  routes: [
    route('GET /v1/projects', {
      id: 'listProjects',
      summary: 'The projects of the user',
      answer: z.array(shape.projectView),
      act: null,
      handle: async ({ scope }) => scope.projects.list(),
    }),
    route('POST /v1/projects', {
      id: 'addProject',
      summary: 'Register a folder as a project',
      body: shape.projectRequest,
      answer: shape.projectView,
      act: ({ body: { id, folder, mode, test } }) => ({
        verb: 'project.add',
        names: id === undefined ? [] : [id],
        words: { 'the id': [id], '--test': [test] },
        detail: definedDetail({ folder, mode }),
      }),
      done: ({ id }) => ({ targets: [{ name: id }] }),
      handle: async ({ scope, body }) => scope.projects.add(body),
    }),
    route('GET /v1/projects/{name}', {
      id: 'showProject',
      summary: 'One project',
      answer: shape.projectView,
      act: null,
      handle: async ({ scope, name }) => scope.projects.show(name),
    }),
    route('DELETE /v1/projects/{name}', {
      id: 'removeProject',
      summary:
        'Remove a project and its sandbox; the folder stays. Refused if the sandbox has changes that were not applied',
      query: z.strictObject({ force: z.stringbool().optional() }),
      answer: shape.projectView,
      act: named('project.remove', true),
      handle: ({ scope, name, query }) => scope.projects.remove(name, query.force ?? false),
    }),
  ],
});
