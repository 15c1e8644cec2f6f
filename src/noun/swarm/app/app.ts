/**
 * Swarms: task files of a project, each worked on by an agent in a sandbox of its own.
 *
 * Life cycle of a container, one per task file: `pending → running → completed | failed | stopped`; failed and stopped
 * ones start again by `resume` or another `run`. Completed stories stay completed. Containers that scripts manage are
 * observed whenever the state is read (`script-entries.ts`); a script may mark a container as completed after its exit was
 * observed.
 *
 *   recorded                          observed                                      becomes
 *   pending or running                completion read                               the state in it; completed only with every story done
 *   running, or pending after start   sandbox absent, or commits cannot be fetched  failed, `lost`
 *   running                           exited 0, no completion                       failed, `no_completion`
 *   running                           exited otherwise, out of memory               failed, `AGENT_CRASH` or `CONTAINER_OOM`
 *   running                           over its time limit, or silent                stopped, then failed, `CONTAINER_TIMEOUT`
 *   running                           paused, stopped or being removed              stopped
 *   pending                           running                                       running
 *   any end state                     anything                                      unchanged
 *
 * Promises:
 * - `run` reads and checks everything before it changes anything (`order.ts`). At most `max` containers of a swarm run at
 *   once; the others wait in a queue (`orchestrator.ts`).
 * - A container is completed only by the adapter's own completion with all stories done; a story counts when its commit
 *   is on the host (`worker.ts`).
 * - Each result is recorded before the next step, so the next daemon continues where this one ended.
 * - Messages of an adapter change only what the transitions of task files allow (`work-change.ts`).
 * - A user has one swarm in a project. `init` refuses to replace one that is at work, unless forced. A script that tries to
 *   change a container that Carrel runs is refused.
 */
import type { z } from 'zod';
import { declare, definedDetail } from '../../../kernel/server/route.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { auditedFields } from '../../sandbox/api.ts';
import * as shape from '../api.ts';
import { swarmConfig } from './config.ts';
import { removeOrphans } from './state.ts';
import type { UserSwarms } from './swarms.ts';

export interface SwarmScope {
  readonly swarms: UserSwarms;
  readonly liveSwarms: { start(): void };
  readonly store: Store;
  readonly now: () => string;
}

const { noun, route } = declare<SwarmScope>();

export const swarm = noun({
  config: swarmConfig,
  routes: [
    route('POST /v1/swarm/run', {
      id: 'runSwarm',
      summary: 'Start work on task files, each by an agent in a sandbox of its own',
      body: shape.runRequest,
      answer: shape.begunView,
      usesSettings: true,
      act: ({ body }) => ({ verb: 'swarm.run', names: [], ...swarmAct(body) }),
      handle: ({ scope, body }) => scope.swarms.run(body),
    }),
    route('GET /v1/swarm/show', {
      id: 'showSwarm',
      summary: 'A swarm with its task files, stories and sandboxes',
      query: shape.projectRequest,
      answer: shape.swarmView,
      act: null,
      handle: ({ scope, query }) => scope.swarms.show(query.project),
    }),
    route('POST /v1/swarm/resume', {
      id: 'resumeSwarm',
      summary: 'Start again the task files that failed or were stopped; completed stories stay completed',
      body: shape.resumeRequest,
      answer: shape.begunView,
      usesSettings: true,
      act: ({ body }) => ({ verb: 'swarm.resume', names: body.names ?? [], ...swarmAct(body) }),
      handle: ({ scope, body }) => scope.swarms.resume(body),
    }),
    route('POST /v1/swarm/stop', {
      id: 'stopSwarm',
      summary: 'Stop pending and running task files; answers when they have stopped',
      body: shape.namesRequest,
      answer: shape.swarmView,
      act: ({ body }) => ({
        verb: 'swarm.stop',
        names: body.names ?? [],
        detail: { project: body.project },
        frees: true,
      }),
      handle: ({ scope, body }) => scope.swarms.stop(body.project, body.names),
    }),
    route('GET /v1/swarm', {
      id: 'exportSwarm',
      summary: 'The state of a swarm in its export format',
      query: shape.projectRequest,
      answer: shape.swarmExport,
      act: null,
      handle: ({ scope, query }) => scope.swarms.export(query.project),
    }),
    route('POST /v1/swarm/file', {
      id: 'keepSwarmFile',
      summary: 'Write the state of a swarm to a file of its project now and after every change',
      body: shape.fileRequest,
      answer: shape.swarmExport,
      act: ({ body: { project, file } }) => ({
        verb: 'swarm.keep',
        names: [],
        words: { '--file': [file ?? undefined] },
        detail: definedDetail({ project, file }),
      }),
      handle: ({ scope, body }) => scope.swarms.keepFile(body.project, body.file),
    }),
    route('POST /v1/swarm/init', {
      id: 'initSwarm',
      summary: 'Create a swarm; it replaces the previous one of the project',
      body: shape.initRequest,
      answer: shape.swarmExport,
      act: ({ body }) => ({ verb: 'swarm.init', names: [], detail: { project: body.project } }),
      handle: ({ scope, body }) => scope.swarms.init(body.project, body.force ?? false),
    }),
    route('POST /v1/swarm/add', {
      id: 'addContainer',
      summary: 'Record a container that a script manages',
      body: shape.addRequest,
      answer: shape.entryView,
      act: ({ body: { project, containerName, taskFilePath, branchName } }) => ({
        verb: 'swarm.add',
        names: [containerName],
        words: { 'the name': [containerName], 'the task file': [taskFilePath], 'the branch': [branchName] },
        detail: { project },
      }),
      handle: async ({ scope, body }) => scope.swarms.add(body),
    }),
    route('POST /v1/swarm/update', {
      id: 'updateContainer',
      summary: 'Record the state of such a container',
      body: shape.updateRequest,
      answer: shape.entryView,
      act: ({ body }) => ({
        verb: 'swarm.update',
        names: [body.containerName],
        words: { 'the address': [body.prUrl ?? undefined] },
        detail: definedDetail({ status: body.status }),
      }),
      handle: async ({ scope, body }) => scope.swarms.update(body),
    }),
    route('POST /v1/swarm/remove', {
      id: 'removeContainer',
      summary: 'Remove the record of a container',
      body: shape.containerRequest,
      answer: shape.entryView,
      act: ({ body }) => ({ verb: 'swarm.remove', names: [body.containerName], frees: true }),
      handle: async ({ scope, body }) => scope.swarms.remove(body.project, body.containerName),
    }),
    route('POST /v1/swarm/cleanup', {
      id: 'cleanSwarm',
      summary: 'Remove the records of containers that have ended',
      body: shape.projectRequest,
      answer: shape.removedView,
      act: ({ body }) => ({
        verb: 'swarm.cleanup',
        names: [],
        detail: { project: body.project },
        frees: true,
      }),
      handle: ({ scope, body }) => scope.swarms.cleanup(body.project),
    }),
  ],
  recover: async ({ store, now }) => removeOrphans(store, now()),
  start: ({ liveSwarms }) => liveSwarms.start(),
});

function swarmAct({
  project,
  agent,
  author,
  sandbox,
}: z.output<typeof shape.runRequest> | z.output<typeof shape.resumeRequest>) {
  return {
    words: {
      '--env': Object.values(sandbox?.env ?? {}),
      '--network': [sandbox?.network ?? []].flat(),
      'the author': [author?.name, author?.email],
    },
    detail: { ...definedDetail({ project, agent }), ...(sandbox ? definedDetail(auditedFields(sandbox)) : {}) },
  };
}
