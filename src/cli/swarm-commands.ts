/** The commands about task files. */
import type { CommandEntry, GroupEntry } from './commands.ts';

const area = 'Swarms:';

export const swarmGroups: readonly GroupEntry[] = [
  { name: 'task', area, summary: 'files of stories for agents to work on' },
  { name: 'policy', area, summary: 'what agents may run on this machine without a question' },
];

const taskCommands: readonly CommandEntry[] = [
  {
    name: 'task list',
    area,
    summary: 'list the task files of a project (here), or the stories of one file',
    args: '[PATH]',
    completes: 'files',
    load: () => import('./command/task-list.ts'),
  },
  {
    name: 'task validate',
    area,
    summary: 'say what is wrong with task files, line by line; all of the project unless named',
    args: '[FILE...]',
    completes: 'files',
    load: () => import('./command/task-validate.ts'),
  },
  {
    name: 'task ready',
    area,
    summary: 'show the stories that can be begun, the most urgent first',
    args: '[FILE]',
    completes: 'files',
    load: () => import('./command/task-ready.ts'),
  },
  {
    name: 'task mark',
    area,
    summary: 'change the status of a story: in_progress, completed, failed or skipped',
    args: '<FILE> <STORY> <STATUS>',
    options: [{ flags: '--notes <TEXT>', summary: 'what to remember with it' }],
    completes: 'files',
    load: () => import('./command/task-mark.ts'),
  },
  {
    name: 'task skip',
    area,
    summary: 'skip a story and what is pending behind it',
    args: '<FILE> <STORY>',
    completes: 'files',
    load: () => import('./command/task-skip.ts'),
  },
  {
    name: 'task reset',
    area,
    summary: 'let stories fail that are in progress while nobody works on them',
    args: '<FILE>',
    completes: 'files',
    load: () => import('./command/task-reset.ts'),
  },
];

const policyCommands: readonly CommandEntry[] = [
  {
    name: 'policy check',
    area,
    summary: 'say whether a command may run without a question: the one after --, or a tool call as JSON on stdin',
    usage: '[options] [-- CMD…]',
    options: [{ flags: '--hook', summary: 'answer as a PreToolUse hook of Claude Code does' }],
    takesCommand: true,
    load: () => import('./command/policy-check.ts'),
  },
];

export const swarmCommands: readonly CommandEntry[] = [...taskCommands, ...policyCommands];
