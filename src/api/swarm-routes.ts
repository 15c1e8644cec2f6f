/** The routes about task files and swarms. */
import { z } from 'zod';
import type { Route } from './routes.ts';
import * as swarm from './swarm.ts';
import * as task from './task.ts';

export const swarmRoutes = {
  'GET /v1/tasks': {
    id: 'listTasks',
    summary: 'The task files of a project, with what is wrong with them',
    query: task.projectQuery,
    answer: z.array(task.taskEntryView),
  },
  'GET /v1/tasks/file': {
    id: 'showTask',
    summary: 'One task file and its stories',
    query: task.taskQuery,
    answer: task.taskView,
  },
  'POST /v1/tasks/mark': {
    id: 'markStory',
    summary: 'Change the status of a story',
    body: task.markRequest,
    answer: task.changedView,
  },
  'POST /v1/tasks/skip': {
    id: 'skipStory',
    summary: 'Skip a story and what is pending behind it',
    body: task.skipRequest,
    answer: task.changedView,
  },
  'POST /v1/tasks/reset': {
    id: 'resetStories',
    summary: 'Let stories fail that are in progress while nobody works on them',
    body: task.taskQuery,
    answer: task.changedView,
  },
  'POST /v1/swarm/run': {
    id: 'runSwarm',
    summary: 'Have task files worked on, each by an agent in a sandbox of its own',
    body: swarm.runRequest,
    answer: swarm.begunView,
  },
  'GET /v1/swarm/show': {
    id: 'showSwarm',
    summary: 'A swarm with all there is to see of it',
    query: swarm.projectRequest,
    answer: swarm.swarmView,
  },
  'POST /v1/swarm/resume': {
    id: 'resumeSwarm',
    summary: 'Begin again what has failed or was stopped; finished stories stay finished',
    body: swarm.resumeRequest,
    answer: swarm.begunView,
  },
  'POST /v1/swarm/stop': {
    id: 'stopSwarm',
    summary: 'Stop what is pending or running; answers when it has',
    body: swarm.namesRequest,
    answer: swarm.swarmView,
  },
  'GET /v1/swarm': {
    id: 'exportSwarm',
    summary: 'The state of a swarm',
    query: swarm.projectRequest,
    answer: swarm.swarmExport,
  },
  'POST /v1/swarm/file': {
    id: 'keepSwarmFile',
    summary: 'Keep the state of a swarm in a file of its project, written again after every change',
    body: swarm.fileRequest,
    answer: swarm.swarmExport,
  },
  'POST /v1/swarm/init': {
    id: 'initSwarm',
    summary: 'Begin a swarm in the place of the one before',
    body: swarm.initRequest,
    answer: swarm.swarmExport,
  },
  'POST /v1/swarm/add': {
    id: 'addContainer',
    summary: 'Note a container that a script looks after',
    body: swarm.addRequest,
    answer: swarm.entryView,
  },
  'POST /v1/swarm/update': {
    id: 'updateContainer',
    summary: 'Note how such a container stands',
    body: swarm.updateRequest,
    answer: swarm.entryView,
  },
  'POST /v1/swarm/remove': {
    id: 'removeContainer',
    summary: 'Forget a container',
    body: swarm.containerRequest,
    answer: swarm.entryView,
  },
  'POST /v1/swarm/cleanup': {
    id: 'cleanSwarm',
    summary: 'Forget containers that have ended',
    body: swarm.projectRequest,
    answer: swarm.removedView,
  },
} as const satisfies Record<string, Route>;
