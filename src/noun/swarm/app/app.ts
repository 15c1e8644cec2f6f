/**
 * The routes of swarms. `user-swarms.ts` is what they do for a user; `order` reads and checks everything before anything begins, `worker` runs the
 * containers, `state` has what is recorded of them and the file that scripts read, `task` the task files.
 */
import type { z } from 'zod';
import { declare, definedDetail } from '../../../kernel/server/route.ts';
import type { Store } from '../../../kernel/store/store.ts';
import { auditedFields } from '../../sandbox/api.ts';
import * as shape from '../api.ts';
import type { Swarms } from '../swarm.ts';
import { swarmConfig } from './config.ts';
import { removeOrphans } from './state/state.ts';
import type { UserSwarms } from './user-swarms.ts';

export interface SwarmScope {
  readonly swarms: UserSwarms;
  readonly liveSwarms: Pick<Swarms, 'start'>;
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
