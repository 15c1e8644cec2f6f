/** The routes about task files and swarms. */
import { z } from 'zod';
import { paths } from './paths.ts';
import type { Route } from './routes.ts';
import * as swarm from './swarm-shapes.ts';
import * as task from './task-shapes.ts';

export const swarmRoutes = {
  listTasks: {
    ...paths.listTasks,
    summary: 'The task files of a project, with what is wrong with them',
    query: task.projectQuery,
    answer: z.array(task.taskEntryView),
  },
  showTask: {
    ...paths.showTask,
    summary: 'One task file and its stories',
    query: task.taskQuery,
    answer: task.taskView,
  },
  markStory: {
    ...paths.markStory,
    summary: 'Change the status of a story',
    body: task.markRequest,
    answer: task.changedView,
  },
  skipStory: {
    ...paths.skipStory,
    summary: 'Skip a story and what is pending behind it',
    body: task.skipRequest,
    answer: task.changedView,
  },
  resetStories: {
    ...paths.resetStories,
    summary: 'Let stories fail that are in progress while nobody works on them',
    body: task.taskQuery,
    answer: task.changedView,
  },
  runSwarm: {
    ...paths.runSwarm,
    summary: 'Have task files worked on, each by an agent in a sandbox of its own',
    body: swarm.runRequest,
    answer: swarm.begunView,
  },
  showSwarm: {
    ...paths.showSwarm,
    summary: 'A swarm with all there is to see of it',
    query: swarm.projectRequest,
    answer: swarm.swarmView,
  },
  resumeSwarm: {
    ...paths.resumeSwarm,
    summary: 'Begin again what has failed or was stopped; finished stories stay finished',
    body: swarm.resumeRequest,
    answer: swarm.begunView,
  },
  stopSwarm: {
    ...paths.stopSwarm,
    summary: 'Stop what is pending or running; answers when it has',
    body: swarm.namesRequest,
    answer: swarm.swarmView,
  },
  exportSwarm: {
    ...paths.exportSwarm,
    summary: 'The state of a swarm',
    query: swarm.projectRequest,
    answer: swarm.swarmExport,
  },
  keepSwarmFile: {
    ...paths.keepSwarmFile,
    summary: 'Keep the state of a swarm in a file of its project, written again after every change',
    body: swarm.fileRequest,
    answer: swarm.swarmExport,
  },
  initSwarm: {
    ...paths.initSwarm,
    summary: 'Begin a swarm in the place of the one before',
    body: swarm.initRequest,
    answer: swarm.swarmExport,
  },
  addContainer: {
    ...paths.addContainer,
    summary: 'Note a container that a script looks after',
    body: swarm.addRequest,
    answer: swarm.entryView,
  },
  updateContainer: {
    ...paths.updateContainer,
    summary: 'Note how such a container stands',
    body: swarm.updateRequest,
    answer: swarm.entryView,
  },
  removeContainer: {
    ...paths.removeContainer,
    summary: 'Forget a container',
    body: swarm.containerRequest,
    answer: swarm.entryView,
  },
  cleanSwarm: {
    ...paths.cleanSwarm,
    summary: 'Forget containers that have ended',
    body: swarm.projectRequest,
    answer: swarm.removedView,
  },
} as const satisfies Record<string, Route>;

export type BegunSwarmView = z.output<typeof swarm.begunView>;
export type SwarmView = z.output<typeof swarm.swarmView>;
export type SwarmContainerView = z.output<typeof swarm.containerView>;
export type SwarmExportView = z.output<typeof swarm.swarmExport>;
export type SwarmEntryView = z.output<typeof swarm.entryView>;
export type TaskEntryView = z.output<typeof task.taskEntryView>;
export type TaskView = z.output<typeof task.taskView>;
export type StoryView = z.output<typeof task.storyView>;
export type ChangedStoriesView = z.output<typeof task.changedView>;
