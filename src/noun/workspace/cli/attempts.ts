/** Compares attempts at one task: the changes of each, whether the tests pass, and how long it took. */
import { randomBytes } from 'node:crypto';
import type { Context } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { duration } from '../../../client/output/age.ts';
import type { Output } from '../../../client/output/output.ts';
import { during } from '../../../client/output/progress.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import type { SandboxView } from '../../sandbox/api.ts';
import { endStates } from '../../sandbox/model.ts';

/** Labels of the sandboxes that `try` makes. */
export const labels = { group: 'try', test: 'try-test' } as const;

export interface AttemptSummary {
  readonly name: string;
  readonly state: SandboxView['state'];
  readonly exitCode: number | null;
  readonly files: number;
  readonly insertions: number;
  readonly deletions: number;
  /** The exit code of the test command; null: it did not run. */
  readonly test: number | null;
  readonly seconds: number | null;
}

interface Measuring {
  /** The test command; undefined: the one that `try` was started with. */
  readonly test?: string | undefined;
  readonly signal?: AbortSignal;
}

export async function showAttempts(
  { out, json }: Context,
  client: Client,
  views: readonly SandboxView[],
  measuring: Measuring,
): Promise<void> {
  const measured = Promise.all(views.map((view) => measure(client, view, measuring)));
  const attempts = await during(out, 'comparing, and running the tests', measured);
  if (json) out.document(attempts);
  else out.print(...attemptTable(attempts, out));
}

async function measure(client: Client, view: SandboxView, { test, signal }: Measuring): Promise<AttemptSummary> {
  const { name, state, exitCode, labels: own } = view;
  const { changes } = await client.call('POST /v1/sandboxes/{name}/changes', {
    path: { name },
    body: {},
    ...(signal ? { signal } : {}),
  });
  const files = changes.filter(({ oldType, newType }) => (newType ?? oldType) !== 'folder');
  const sum = (key: 'insertions' | 'deletions') => files.reduce((all, change) => all + (change[key] ?? 0), 0);
  const command = test ?? own[labels.test];
  const tested =
    command !== undefined && endStates.includes(state) ? await testOf(client, name, command, signal) : null;
  return {
    name,
    state,
    exitCode,
    files: files.length,
    insertions: sum('insertions'),
    deletions: sum('deletions'),
    test: tested,
    seconds: secondsOf(view),
  };
}

function secondsOf({ startedAt, finishedAt }: SandboxView): number | null {
  if (startedAt === null) return null;
  return ((finishedAt === null ? Date.now() : Date.parse(finishedAt)) - Date.parse(startedAt)) / 1000;
}

/** Runs the test in a fork, so that it changes nothing in the attempt and the attempt's command does not run again. */
async function testOf(client: Client, name: string, test: string, signal?: AbortSignal): Promise<number | null> {
  const copy = `test-${randomBytes(6).toString('hex')}`;
  const path = { name: copy };
  await client.call('POST /v1/sandboxes/{name}/fork', {
    path: { name },
    body: { names: [copy], command: ['/bin/sh', '-c', test] },
  });
  try {
    await client.call('POST /v1/sandboxes/{name}/start', { path });
    const ended = await client.call('GET /v1/sandboxes/{name}/wait', { path, ...(signal ? { signal } : {}) });
    return ended.exitCode;
  } finally {
    await client.call('DELETE /v1/sandboxes/{name}', { path, query: { force: true } });
  }
}

export function attemptTable(attempts: readonly AttemptSummary[], out: Output): string[] {
  const tests = attempts.some(({ test }) => test !== null);
  const head = ['NAME', 'STATE', 'FILES', 'LINES', ...(tests ? ['TESTS'] : []), 'TIME'];
  const rows = attempts.map((attempt) => [
    plain(attempt.name),
    stateText(attempt),
    String(attempt.files),
    `+${attempt.insertions} -${attempt.deletions}`,
    ...(tests ? [testText(attempt.test, out)] : []),
    attempt.seconds === null ? '-' : duration(attempt.seconds),
  ]);
  return table([head.map((word) => out.paint('bold', word)), ...rows]);
}

function stateText({ state, exitCode }: AttemptSummary): string {
  return state === 'failed' && exitCode !== null ? `failed (${exitCode})` : state;
}

function testText(test: number | null, out: Output): string {
  if (test === null) return '-';
  return test === 0 ? out.paint('green', 'pass') : out.paint('red', `fail (${test})`);
}
