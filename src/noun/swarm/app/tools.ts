/** Tools for swarms: task files of a project, each worked on by an agent in a sandbox. */
import { join } from 'node:path';
import { z } from 'zod';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { cursor, type HubTool, inProject, limit, nextCursor, path, project, tool } from '../../hub/app/tool/tool.ts';
import { hostFolder } from '../../project/model/project.ts';
import type { SwarmView } from '../api.ts';

const containers = z.array(
  z.object({
    name: z.string(),
    task_file: z.string(),
    branch: z.string(),
    status: z.string(),
    reason: z.string().nullable(),
    hint: z.string().nullable(),
    stories: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
    commits: z.array(z.string()),
  }),
);

export const swarmTools: readonly HubTool[] = [
  tool({
    name: 'swarm_run',
    group: 'swarm',
    description:
      'Start agents on task files of a project, each in a sandbox. Answers at once; swarm_status follows them.',
    changes: true,
    destroys: false,
    input: z.strictObject({
      project,
      files: z.array(path).min(1).max(100).optional().describe('task files; left out: all with something to do'),
      agent: z.string().min(1).max(32).optional(),
      max: z.int().min(1).max(64).optional().describe('task files at the same time'),
    }),
    output: z.object({ started: z.array(z.string()) }),
    run: async ({ project: id, files, agent, max }, scope) => {
      const folder = hostFolder(scope.find(id));
      const places = files?.map((file) => join(folder, relative(inProject(scope.find(id), file))));
      const body = { project: folder, files: places, agent, max };
      return { started: (await scope.callRoute('POST /v1/swarm/run', { body })).begun };
    },
  }),
  tool({
    name: 'swarm_status',
    group: 'swarm',
    description: 'The task files of the swarm of a project: state, stories and commits.',
    changes: false,
    destroys: false,
    input: z.strictObject({ project, limit, cursor }),
    output: z.object({ containers, next_cursor: nextCursor }),
    run: async ({ project: id, limit: most, cursor: after }, scope) => {
      const query = { project: hostFolder(scope.find(id)) };
      const all = containersOf(await scope.callRoute('GET /v1/swarm/show', { query }));
      const rest = after === undefined ? all : all.slice(all.findIndex(({ name }) => name === after) + 1);
      const page = rest.slice(0, most);
      return { containers: page, ...(rest.length > most ? { next_cursor: page.at(-1)!.name } : {}) };
    },
  }),
  tool({
    name: 'swarm_stop',
    group: 'swarm',
    description: 'Stop the agents of a swarm, or some of them.',
    changes: true,
    destroys: true,
    input: z.strictObject({ project, names: z.array(z.string().max(63)).min(1).max(100).optional() }),
    output: z.object({ containers }),
    run: async ({ project: id, names }, scope) => {
      const body = { project: hostFolder(scope.find(id)), names };
      return { containers: containersOf(await scope.callRoute('POST /v1/swarm/stop', { body })) };
    },
  }),
];

function relative(file: string): string {
  const names = file.split('/');
  if (!file.startsWith('/') && !names.includes('..')) return file;
  throw new Fault('invalid', `${printable(file)} is not the path of a file of the project`, {
    data: { field: 'files' },
  });
}

function containersOf({ containers: all }: SwarmView): z.output<typeof containers> {
  return all.map(({ containerName, taskFilePath, branchName, status, reason, hint, storyProgress, commits }) => {
    const { total, completed, failed } = storyProgress;
    return {
      ...{ name: containerName, task_file: taskFilePath, branch: branchName, status, reason, hint },
      stories: { total, completed, failed },
      commits: commits.map(({ commit }) => commit),
    };
  });
}
