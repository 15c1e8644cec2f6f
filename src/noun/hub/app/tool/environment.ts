/** Tools for environments: sandboxes with a working copy of a project, for agents that orchestrate others. */
import { z } from 'zod';
import { rule } from '../../../network/api.ts';
import type { SandboxView } from '../../../sandbox/api.ts';
import type { ChangeView } from '../../../workspace/api.ts';
import { environmentApplyTools } from './environment-apply.ts';
import { ran, ranOf, timeout } from './run.ts';
import {
  cursor,
  dryRun,
  environment,
  type HubTool,
  inProject,
  limit,
  nextCursor,
  path,
  project,
  tool,
} from './tool.ts';

const name = z.string().min(1).max(63).optional().describe('left out: one is chosen');
const shown = z.object({
  environment: z.string(),
  state: z.string(),
  created_at: z.string(),
  image: z.string().nullable(),
  network: z.array(z.string()),
});
const change = z.object({
  path: z.string(),
  status: z.string(),
  from: z.string().optional(),
  insertions: z.int().nullable(),
  deletions: z.int().nullable(),
  gates: z.array(z.string()),
});

export const environmentTools: readonly HubTool[] = [
  tool({
    name: 'environment_create',
    group: 'environment',
    description:
      'Create an environment: a sandbox with its own working copy of a project. The project stays unchanged.',
    changes: true,
    destroys: false,
    input: z.strictObject({
      ...{ project, name },
      image: z.string().min(1).max(512).optional().describe('one that the user allows'),
      network: z
        .union([z.literal('none'), z.array(rule).max(100)])
        .optional()
        .describe('some of the hosts that the user allows; left out: all of them'),
    }),
    output: shown,
    run: async ({ project: id, ...request }, scope, { signal }) =>
      shownOf(await scope.environments.create(scope.find(id), request, signal)),
  }),
  tool({
    name: 'environment_list',
    group: 'environment',
    description: 'List the environments of a project.',
    changes: false,
    destroys: false,
    input: z.strictObject({ project, limit, cursor }),
    output: z.object({ environments: z.array(shown), next_cursor: nextCursor }),
    run: async ({ project: id, limit: most, cursor: after = '' }, scope) => {
      const found = scope.find(id);
      const names = scope.environments.names(found).filter((one) => one > after);
      const page = names.slice(0, most);
      const views = await Promise.all(page.map((one) => scope.environments.show(found, one)));
      return { environments: views.map(shownOf), ...(names.length > most ? { next_cursor: page.at(-1)! } : {}) };
    },
  }),
  tool({
    name: 'environment_run',
    group: 'environment',
    description: 'Run a command in an environment, which is started if needed. Output: the last 64 KiB.',
    changes: true,
    destroys: true,
    input: z.strictObject({
      ...{ project, environment },
      command: z.array(z.string().max(100_000)).min(1).max(1000).describe('program and arguments; no shell'),
      cwd: path.default(''),
      env: z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.string()).default({}),
      timeout,
    }),
    output: z.object(ran),
    run: async ({ project: id, environment: which, command, cwd, env, timeout: seconds }, scope, call) => {
      const request = { command, cwd: inProject(scope.find(id), cwd), env, timeoutMs: seconds * 1000 };
      const { signal, report } = call;
      return ranOf(await scope.environments.run(scope.find(id), which, request, { signal, onOutput: report }));
    },
  }),
  tool({
    name: 'environment_diff',
    group: 'environment',
    description: 'What an environment changed: a page of paths, and on the first page the first 64 KiB of the diff.',
    changes: false,
    destroys: false,
    input: z.strictObject({ project, environment, paths: z.array(path).max(1000).default([]), limit, cursor }),
    output: z.object({
      changes: z.array(change),
      next_cursor: nextCursor,
      diff: z.string(),
      truncated: z.boolean(),
    }),
    run: async ({ project: id, environment: which, paths, limit: most, cursor: after }, scope, { signal }) => {
      const found = scope.find(id);
      const projectPaths = paths.map((one) => inProject(scope.find(id), one));
      const all = await scope.environments.changes(found, which, projectPaths, signal);
      const rest = after === undefined ? all : all.slice(all.findIndex((one) => one.path === after) + 1);
      const diff = { text: '', truncated: false };
      if (after === undefined) Object.assign(diff, await scope.environments.diff(found, which, projectPaths, signal));
      return {
        changes: rest.slice(0, most).map(changeOf),
        ...(rest.length > most ? { next_cursor: rest[most - 1]!.path } : {}),
        ...{ diff: diff.text, truncated: diff.truncated },
      };
    },
  }),
  tool({
    name: 'environment_snapshot',
    group: 'environment',
    description: 'Take a snapshot of an environment, for carrel restore.',
    changes: true,
    destroys: false,
    input: z.strictObject({ project, environment, label: z.string().min(1).max(63).optional() }),
    output: z.object({ snapshot: z.string(), created_at: z.string(), size_bytes: z.int() }),
    run: async ({ project: id, environment: which, label }, scope) => {
      const { id: snapshot, createdAt, sizeBytes } = await scope.environments.snapshot(scope.find(id), which, label);
      return { snapshot, created_at: createdAt, size_bytes: sizeBytes };
    },
  }),
  tool({
    name: 'environment_fork',
    group: 'environment',
    description: 'Create an environment that begins with the files of another one.',
    changes: true,
    destroys: false,
    input: z.strictObject({ project, environment, name }),
    output: shown,
    run: async ({ project: id, environment: which, name: as }, scope) =>
      shownOf(await scope.environments.fork(scope.find(id), which, as)),
  }),
  ...environmentApplyTools,
  tool({
    name: 'environment_remove',
    group: 'environment',
    description: 'Remove an environment. Refused if it has changes that were not applied, unless force is set.',
    changes: true,
    destroys: true,
    input: z.strictObject({ project, environment, force: z.boolean().default(false), dry_run: dryRun }),
    output: z.object({ environment: z.string(), dry_run: z.boolean() }),
    run: async ({ project: id, environment: which, force, dry_run }, scope) => {
      await scope.environments.remove(scope.find(id), which, { force, dryRun: dry_run });
      return { environment: which, dry_run };
    },
  }),
];

function shownOf({ name: which, state, createdAt, image, network }: SandboxView) {
  const { allow } = network;
  return { environment: which, state, created_at: createdAt, image: image?.name ?? null, network: allow };
}

function changeOf({ path: at, status, from, insertions, deletions, gates }: ChangeView) {
  return { path: at, status, ...(from === undefined ? {} : { from }), insertions, deletions, gates };
}
