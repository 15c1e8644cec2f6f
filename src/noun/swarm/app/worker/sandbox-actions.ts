/** Carries out the actions of containers on their sandboxes. */

import type { ObservedContainer } from '../../../../model/foreign-container.ts';
import type { SandboxRequest } from '../../../sandbox/api.ts';
import { hasEnded, type Sandbox } from '../../../sandbox/model.ts';
import type { WorkspaceParts } from '../../../workspace/app/workspaces.ts';
import { commitsOf, takenRef } from '../../../workspace/git/bundle/bundle.ts';
import type { SwarmContainer } from '../../model/swarm.ts';
import { canReach } from '../../model/task.ts';
import type { StoryChange, TaskText } from '../../model/task-text.ts';
import { placeOf } from '../../task/task.ts';
import type { Tasks } from '../../task/tasks.ts';
import type { ContainerActions } from './container-actions.ts';
import { readRecord } from './record-file.ts';

export interface ActionParts extends WorkspaceParts {
  readonly tasks: Tasks;
  /** Brings the commits of an agent into the project's repository. */
  readonly fetchCommits: (sandbox: Sandbox) => Promise<unknown>;
}

export function sandboxActions(parts: ActionParts): ContainerActions {
  const { store, engineOf, sandboxes, home, tasks } = parts;
  const rowOf = ({ containerId }: SwarmContainer) => store.get('sandbox', containerId);
  return {
    begin: async (container) => {
      const row = rowOf(container);
      if (row === null) await sandboxes.create(container.work!.request as SandboxRequest, container.containerId);
      else if (hasEnded(row.value.status) && container.work!.startedAt === null) await sandboxes.start(row.name);
      const sandbox = rowOf(container)?.value;
      if (sandbox?.status.state !== 'running') return null;
      const init = await engineOf(sandbox)
        .network(sandbox.id, sandbox.status.handle)
        .catch(() => null);
      return init?.pid ?? null;
    },
    observe: async (container) => {
      const row = rowOf(container);
      if (row) await parts.reconciler.refresh(row);
      return observedSandbox(rowOf(container)?.value ?? null, container);
    },
    connect: async (container) => {
      const { id, value } = store.get('sandbox', container.containerId)!;
      const console = await engineOf(value).attach(id, value.status.handle);
      console.stderr.on('error', () => {});
      console.stderr.resume();
      return { input: console.stdin, output: console.stdout, close: () => console.detach() };
    },
    record: async ({ containerId }) => {
      await parts.openFolder(containerId);
      return readRecord(home.state(containerId));
    },
    stop: async (container) => {
      const row = rowOf(container);
      if (row && !hasEnded(row.value.status)) await sandboxes.stop(row.name);
    },
    ended: async (container, timeoutMs) => {
      const row = rowOf(container);
      if (row) await sandboxes.ended(row.value, AbortSignal.timeout(timeoutMs)).catch(() => {});
    },
    fetch: async (container) => {
      const row = rowOf(container);
      if (row === null) return { tips: [], stories: [] };
      const project = row.value.spec.project!;
      // Read before the fetch, so that each commit it names is among the fetched ones.
      await parts.openFolder(row.id);
      const stories = Object.entries(readRecord(home.state(row.id))?.outcome.stories ?? {});
      await parts.fetchCommits(row.value);
      const taken = await takenRef(project, row.name, container.branchName);
      const there = await commitsOf(project);
      return {
        tips: taken === null ? [] : [taken],
        stories: stories.flatMap(([id, { commit }]) => (commit !== null && there.has(commit) ? [id] : [])),
      };
    },
    note: async (container) => {
      const project = store.get('swarm', container.swarmId)?.value.project;
      if (project === undefined) return;
      const place = placeOf(`${project}/${container.taskFilePath}`);
      await tasks.change(place, (task) => storyChanges(task, container), sandboxes.account);
    },
  };
}

export function observedSandbox(sandbox: Sandbox | null, { work }: SwarmContainer): ObservedContainer {
  if (sandbox === null) return { kind: work?.startedAt == null ? 'waiting' : 'absent' };
  const { state, reason, exitCode, signal } = sandbox.status;
  if (state === 'pending' || state === 'running') return { kind: 'running' };
  if (state === 'stopped') return { kind: 'paused' };
  if (state === 'failed' && exitCode === null) return { kind: 'absent' };
  return { kind: 'exited', exitCode, signal, outOfMemory: reason === 'oom' };
}

/** Only allowed transitions, so that edits of the owner to the file stay. */
function storyChanges({ file }: TaskText, { work }: SwarmContainer): StoryChange[] {
  return file.userStories.flatMap(({ id, status }) => {
    const known = work?.stories[id];
    if (!known || !canReach(status, known.status)) return [];
    if (known.status === 'completed' && !work.safe.includes(id)) return [];
    return [{ id, status: known.status, ...(known.status === 'failed' ? { notes: known.output } : {}) }];
  });
}
