/** Tools that run commands. */
import { z } from 'zod';
import { asFault, Fault } from '../../../../model/fault.ts';
import type { ToolCall } from '../../hub.ts';
import type { RunCommand, RunResult } from '../../model/spoke.ts';
import { type HubTool, path, project, type ToolScope, tool } from './tool.ts';
import { hubText, inProject, spokeText } from './view.ts';

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
const projects = z.array(project).min(1).max(50);
/** The result in one of several projects: a failure in one does not fail the others. */
const ranIn = z.object({
  project: z.string(),
  ...ran,
  failed_tests: z.array(z.string()),
  error: z.string().nullable(),
});
type RanIn = z.output<typeof ranIn>;

export const runTools: readonly HubTool[] = [
  tool({
    name: 'run_command',
    group: 'run',
    description:
      'Run a command in the sandbox of a project, or of several at the same time. A time-out ends all of it. Output: the last 64 KiB.',
    changes: true,
    destroys: true,
    input: z.strictObject({
      project: project.optional(),
      projects: projects.optional(),
      command: z.array(z.string().max(100_000)).min(1).max(1000).describe('program and arguments; no shell'),
      cwd: path.default(''),
      env: z.record(z.string().regex(/^[A-Za-z_]\w*$/), z.string()).default({}),
      timeout,
    }),
    output: z.object({ ...ran, passed: z.boolean(), results: z.array(ranIn) }).partial(),
    run: async ({ project: one, projects: many, command, cwd, env, timeout: seconds }, scope, call) => {
      if ((one === undefined) === (many === undefined)) {
        throw new Fault('invalid', 'run_command needs either project or projects', { data: { field: 'project' } });
      }
      const request = { command, cwd, env, timeoutMs: seconds * 1000 };
      if (one !== undefined) return ranOf(await run(scope, one, request, call));
      return runInAll(
        many!.map((id) => [id, request]),
        scope,
        call,
      );
    },
  }),
  tool({
    name: 'run_tests',
    group: 'run',
    description: 'Run the test commands of projects, at the same time. Answers with the failed tests.',
    changes: true,
    destroys: true,
    input: z.strictObject({ projects, timeout }),
    output: z.object({ passed: z.boolean(), results: z.array(ranIn) }),
    run: async ({ projects: ids, timeout: seconds }, scope, call) => {
      const requestFor = (id: string) => ({
        ...{ command: ['sh', '-c', testOf(scope, id)], cwd: '', env: {} },
        ...{ timeoutMs: seconds * 1000, isTest: true },
      });
      return runInAll(
        ids.map((id) => [id, requestFor(id)]),
        scope,
        call,
      );
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

/** A project that is named twice runs once. All names are checked before the first run starts. */
async function runInAll(requests: readonly (readonly [string, RunCommand])[], scope: ToolScope, call: ToolCall) {
  const runs = new Map(requests);
  for (const id of runs.keys()) scope.find(id);
  const results = await Promise.all([...runs].map(([id, one]) => runIn(scope, id, one, call)));
  return { passed: results.every(({ exit_code }) => exit_code === 0), results };
}

async function runIn(scope: ToolScope, id: string, request: RunCommand, call: ToolCall): Promise<RanIn> {
  const named: ToolCall = { ...call, report: (text) => call.report(`${id}: ${text}`) };
  try {
    const result = await run(scope, id, request, named);
    named.report(result.exitCode === 0 ? 'passed' : 'failed');
    return { project: id, ...ranOf(result), failed_tests: [...result.failedTests], error: null };
  } catch (error) {
    if (call.signal.aborted) throw error;
    const { code, message } = asFault(error);
    named.report(message);
    return { project: id, ...notRun, failed_tests: [], error: `${code}: ${message}` };
  }
}

const notRun = {
  ...{ exit_code: null, signal: null, timed_out: false, duration_ms: 0 },
  ...{ stdout: '', stderr: '', truncated: false },
};

/** Translates paths: the spoke gets its own, and the client gets those of the hub. */
async function run(scope: ToolScope, id: string, request: RunCommand, call: ToolCall): Promise<RunResult> {
  const place = scope.find(id);
  const inSpoke = (text: string) => spokeText(place, text);
  const { command, cwd, env, ...rest } = request;
  const result = await scope.call(
    id,
    'command/run',
    {
      ...rest,
      command: command.map(inSpoke),
      cwd: inProject(place, cwd),
      env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, inSpoke(value)])),
    },
    { ...call, report: (text) => call.report(hubText(id, text)) },
  );
  const view = (text: string) => hubText(id, text);
  const failedTests = result.failedTests.map(view);
  return { ...result, stdout: view(result.stdout), stderr: view(result.stderr), failedTests };
}

export function ranOf({ exitCode, timedOut, durationMs, failedTests, ...rest }: RunResult) {
  return { exit_code: exitCode, timed_out: timedOut, duration_ms: durationMs, ...rest };
}
