/** Tools about projects. */
import { z } from 'zod';
import { type HubTool, project, tool } from './tool.ts';
import { atHub } from './view.ts';

export const projectTools: readonly HubTool[] = [
  tool({
    name: 'list_projects',
    group: 'files',
    description: 'List the projects.',
    changes: false,
    destroys: false,
    input: z.strictObject({}),
    output: z.object({
      projects: z.array(z.object({ id: z.string(), path: z.string(), mode: z.string(), test: z.string().nullable() })),
    }),
    run: async (_input, scope) => ({
      projects: scope.list().map(({ id, mode, test }) => ({ id, path: atHub(id), mode, test })),
    }),
  }),
  tool({
    name: 'health_check',
    group: 'files',
    description: 'Start the sandbox of a project if needed, and say whether it answers.',
    changes: false,
    destroys: false,
    input: z.strictObject({ project }),
    output: z.object({ project: z.string(), healthy: z.boolean(), took_ms: z.int() }),
    run: async ({ project: id }, scope, call) => {
      const began = performance.now();
      await scope.call(id, 'spoke/ping', {}, call);
      return { project: id, healthy: true, took_ms: Math.round(performance.now() - began) };
    },
  }),
];
