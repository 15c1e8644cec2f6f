/** Tools that run commands, and those about projects. */
import { z } from 'zod';
import type { ToolCall } from '../../../hub/hub.ts';
import { Fault } from '../../../model/fault.ts';
import type { RunResult } from '../../../model/spoke.ts';
import { type HubTool, inProject, path, project, type ToolScope, tool } from './tool.ts';

export const timeout = z.int().min(1).max(3600).default(600).describe('seconds');
export const ran = {
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  timed_out: z.boolean(),
  duration_ms: z.int(),
  stdout: z.string(),
  stderr: z.string(),
  truncated: z.boolean(),
};

export const runTools: readonly HubTool[] = [
  tool({
    name: 'list_projects',
    group: 'files',
    description: 'List the projects.',
    changes: false,
    destroys: false,
    input: z.strictObject({}),
    output: z.object({
      projects: z.array(z.object({ id: z.string(), mode: z.string(), test: z.string().nullable() })),
    }),
    run: async (_input, scope) => ({ projects: scope.list().map(({ id, mode, test }) => ({ id, mode, test })) }),
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
      await scope.call(id, 'file/list', { path: '', depth: 1, limit: 1 }, call);
      return { project: id, healthy: true, took_ms: Math.round(performance.now() - began) };
    },
  }),
  tool({
    name: 'run_command',
    group: 'run',
    description: 'Run a command in the sandbox of a project. A time-out ends all of it. Output: the last 64 KiB.',
    changes: true,
    destroys: true,
    input: z.strictObject({
      project,
      command: z.array(z.string().max(100_000)).min(1).max(1000).describe('program and arguments; no shell'),
      cwd: path.default(''),
      env: z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.string()).default({}),
      timeout,
    }),
    output: z.object(ran),
    run: async ({ project: id, command, cwd, env, timeout: seconds }, scope, call) => {
      const asked = { command, cwd: inProject(id, cwd), env, timeoutMs: seconds * 1000 };
      return ranOf(await scope.call(id, 'command/run', asked, call));
    },
  }),
  tool({
    name: 'run_tests',
    group: 'run',
    description: 'Run the test commands of projects, at the same time.',
    changes: true,
    destroys: true,
    input: z.strictObject({ projects: z.array(project).min(1).max(50), timeout }),
    output: z.object({ passed: z.boolean(), results: z.array(z.object({ project: z.string(), ...ran })) }),
    run: async ({ projects, timeout: seconds }, scope, call) => {
      const ids = [...new Set(projects)];
      const commands = ids.map((id) => [id, testOf(scope, id)] as const);
      const results = await Promise.all(commands.map(([id, test]) => testRun(scope, id, test, seconds * 1000, call)));
      return { passed: results.every(({ exit_code }) => exit_code === 0), results };
    },
  }),
];

function testOf(scope: ToolScope, id: string): string {
  const { test } = scope.find(id);
  if (test !== null) return test;
  throw new Fault('invalid', `project ${id} has no test command`, {
    hint: `carrel project rm ${id}, then carrel project add DIR --test CMD; or use run_command`,
    data: { field: 'projects' },
  });
}

async function testRun(scope: ToolScope, id: string, test: string, timeoutMs: number, call: ToolCall) {
  const asked = { command: ['sh', '-c', test], cwd: '', env: {}, timeoutMs };
  const result = await scope.call(id, 'command/run', asked, call);
  call.report(`${id}: ${result.exitCode === 0 ? 'passed' : 'failed'}`);
  return { project: id, ...ranOf(result) };
}

export function ranOf({ exitCode, timedOut, durationMs, ...rest }: RunResult) {
  return { exit_code: exitCode, timed_out: timedOut, duration_ms: durationMs, ...rest };
}
