import { expect, test } from 'vitest';
import type { Context } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { Output } from '../../../client/output/output.ts';
import type { SwarmContainerView, SwarmView } from '../api.ts';
import { noProgress } from '../model/task.ts';
import { concludeSwarm } from './conclude.ts';

const at = '2026-01-31T12:00:00.000Z';

function container(containerName: string, status: SwarmContainerView['status']): SwarmContainerView {
  return {
    ...{ containerId: '0123456789ab', containerName, taskFilePath: 'x', branchName: 'b', status, prUrl: null },
    ...{ storyProgress: noProgress, createdAt: at, updatedAt: at, acpPid: null, agent: 'a', attempt: 1, startedAt: at },
    ...{ reason: null, hint: null, errors: [], stories: [] },
    commits: [{ ref: 'r', commit: 'c', subject: 's', ahead: 1 }],
  };
}

const view = (...containers: SwarmContainerView[]): SwarmView => ({
  ...{ swarmId: 'x', project: process.cwd(), max: 4, createdAt: at, updatedAt: at },
  containers,
});

/** The exit code and output of a command that began `new`, in a swarm that ends as `ended`. */
async function conclude(
  all: SwarmView,
  ended: SwarmView,
  options: Parameters<typeof concludeSwarm>[3],
  sandbox: Parameters<typeof concludeSwarm>[4] = {},
) {
  const printed: string[] = [];
  const warned: string[] = [];
  const sink = (into: string[]) => ({ write: (text: string) => void into.push(text) });
  const out = new Output(false, sink(printed), sink(warned), {});
  const answers: Record<string, unknown> = {
    'GET /v1/status': { lastSeq: 0 },
    'GET /v1/swarm/show': ended,
    'GET /v1/sandboxes/{name}': { name: 'new', workspace: null, limits: { advisory: ['cpus', 'pids'] } },
  };
  const call = async (route: string) => answers[route] ?? expect.unreachable(route);
  const context = { json: false, out } as unknown as Context;
  const code = await concludeSwarm(
    context,
    { call } as unknown as Client,
    { ...all, begun: ['new'] },
    options,
    sandbox,
  );
  return [code, printed.join(''), warned.join('')];
}

test('containers that ended before this run do not fail it, are not printed, and get no pull request', async () => {
  const begun = view(container('bad', 'failed'), container('good', 'completed'), container('new', 'pending'));
  expect(await conclude(begun, begun, { detach: true })).toEqual([0, 'new\n', '']);
  const [bad, good] = begun.containers as [SwarmContainerView, SwarmContainerView];
  expect((await conclude(begun, view(bad, good, container('new', 'completed')), {}))[0]).toBe(0);
  expect((await conclude(begun, view(bad, good, container('new', 'failed')), { pr: true }))[0]).toBe(6);
  expect((await conclude(begun, view(bad, good), {}))[0]).toBe(6);
});

test('a command ends when its own containers end, while others still run', async () => {
  const script = { ...container('script', 'running'), agent: null };
  const all = view(script, container('other', 'running'), container('new', 'pending'));
  const ended = view(script, container('other', 'running'), container('new', 'completed'));
  expect((await conclude(all, ended, {}))[0]).toBe(0);
});

test('requested limits that cannot be enforced are named by their options', async () => {
  const ended = view(container('new', 'completed'));
  const [code, , warned] = await conclude(ended, ended, {}, { limits: { cpus: 1, memoryBytes: 2 ** 30 } });
  expect([code, warned]).toEqual([0, expect.stringMatching(/^carrel: --cpus cannot be enforced here: .*--strict/)]);
  expect((await conclude(ended, ended, {}))[2]).toBe('');
});
