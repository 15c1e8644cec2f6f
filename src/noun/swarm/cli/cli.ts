/** The commands about task files, swarms and what agents may run. */

import type { Area, CommandEntry, GroupEntry, NameSources, OptionEntry } from '../../../client/cli.ts';
import { engineNames } from '../../../model/engine.ts';
import { agentGrantOptions, serviceOption } from '../../sandbox/cli/grant-options.ts';
import { containerStatuses } from '../model/swarm.ts';

const agent: OptionEntry = {
  flags: '--agent <NAME>',
  field: 'agent',
  summary: 'agent to run: claude, codex, gemini, opencode, or one declared in config.yaml',
  completes: 'agents',
};

const project: OptionEntry = {
  flags: '--project <DIR>',
  field: 'project',
  summary: 'project of the swarm (default: the current directory)',
};

const pr: OptionEntry = {
  flags: '--pr',
  summary: 'push completed branches and open pull requests with gh',
};

/** Options of the sandboxes, as in `run`. */
const surroundings: readonly OptionEntry[] = [
  { flags: '--engine <ENGINE>', field: 'engine', summary: 'engine that runs the sandboxes', choices: engineNames },
  {
    flags: '--image <REF>',
    field: 'image',
    summary: 'image instead of the project’s own (engine docker)',
    completes: 'images',
  },
  {
    flags: '--rootfs <PATH>',
    field: 'rootfs',
    summary: 'directory or tarball as root filesystem instead of the host’s /usr',
  },
  { flags: '--cpus <N>', field: 'limits.cpus', summary: 'limit of processors per sandbox (default 2)' },
  { flags: '--memory <SIZE>', field: 'limits.memoryBytes', summary: 'limit of memory per sandbox (default 4g)' },
  { flags: '--strict', summary: 'fail if a limit cannot be enforced here, instead of a warning' },
  { flags: '--env <K=V>', field: 'env', summary: 'set an environment variable; may be repeated', repeat: true },
  {
    flags: '--secret <NAME>',
    field: 'secrets',
    summary: 'mount a secret at /run/secrets/NAME; may be repeated',
    repeat: true,
    completes: 'secrets',
  },
  {
    flags: '--credential <NAME>',
    field: 'credentials',
    summary: 'let the proxy add a credential to their requests; may be repeated',
    repeat: true,
    completes: 'credentials',
  },
  serviceOption,
  {
    flags: '--network <RULES>',
    field: 'network',
    summary: 'hosts they may connect to: none, or HOST[:PORT],…',
  },
  ...agentGrantOptions,
];

const groups: readonly GroupEntry[] = [
  { name: 'swarm', summary: 'run agents on task files, each in its own sandbox' },
  { name: 'task', summary: 'task files: lists of stories for agents' },
  { name: 'policy', summary: 'which commands agents may run without asking' },
];

const taskCommands: readonly CommandEntry[] = [
  {
    name: 'task ls',
    summary: 'list the task files of a project, or the stories of one file',
    args: '[PATH]',
    fields: { file: 'PATH', project: 'PATH' },
    completes: 'files',
    examples: ['task ls', 'task ls .carrel/tasks/2026-01-31-login-tasks.json'],
    load: async () => (await import('./task-ls.ts')).taskList,
  },
  {
    name: 'task validate',
    summary: 'check task files and print problems with their lines (default: all of the project)',
    args: '[FILE...]',
    fields: { file: 'FILE' },
    completes: 'files',
    examples: ['task validate'],
    load: async () => (await import('./task-validate.ts')).taskValidate,
  },
  {
    name: 'task ready',
    summary: 'list stories that can start now, by priority',
    args: '[FILE]',
    fields: { file: 'FILE' },
    completes: 'files',
    examples: ['task ready'],
    load: async () => (await import('./task-commands.ts')).taskReady,
  },
  {
    name: 'task mark',
    summary: 'set the status of a story: in_progress, completed, failed or skipped',
    args: '<FILE> <STORY> <STATUS>',
    fields: { file: 'FILE', story: 'STORY', status: 'STATUS' },
    options: [
      { flags: '--notes <TEXT>', field: 'notes', summary: 'notes to store with the story' },
      { flags: '--force', summary: 'even if stories it depends on are still open' },
    ],
    completes: 'files',
    examples: ['task mark .carrel/tasks/2026-01-31-login-tasks.json US-002 completed --notes "by hand"'],
    load: async () => (await import('./task-commands.ts')).taskMark,
  },
  {
    name: 'task skip',
    summary: 'skip a story and the pending stories that depend on it',
    args: '<FILE> <STORY>',
    fields: { file: 'FILE', story: 'STORY' },
    completes: 'files',
    examples: ['task skip .carrel/tasks/2026-01-31-login-tasks.json US-003'],
    load: async () => (await import('./task-commands.ts')).taskSkip,
  },
  {
    name: 'task reset',
    summary: 'mark stories as failed that are in progress without an agent',
    args: '<FILE>',
    fields: { file: 'FILE' },
    completes: 'files',
    examples: ['task reset .carrel/tasks/2026-01-31-login-tasks.json'],
    load: async () => (await import('./task-commands.ts')).taskReset,
  },
];

const runCommands: readonly CommandEntry[] = [
  {
    name: 'swarm run',
    summary: 'run an agent on each task file, in its own sandbox, and show progress; Ctrl-C detaches',
    options: [
      { flags: '--file <FILE>', field: 'files', summary: 'one task file' },
      { flags: '--files <A,B>', field: 'files', summary: 'several task files' },
      { flags: '--all', summary: 'all task files of the project with open stories' },
      { flags: '--max <N>', field: 'max', summary: 'number of sandboxes at once (default 4)' },
      agent,
      ...surroundings,
      pr,
      { flags: '-d, --detach', summary: 'run in the background' },
      project,
    ],
    examples: [
      'swarm run --all --agent claude',
      'swarm run --file .carrel/tasks/2026-01-31-login-tasks.json --max 2 --pr',
    ],
    load: async () => (await import('./run.ts')).swarmRun,
  },
  {
    name: 'swarm status',
    summary: 'show the state of the swarm; on a terminal, follow it until it has ended',
    options: [project],
    examples: ['swarm status'],
    load: async () => (await import('./commands.ts')).swarmStatus,
  },
  {
    name: 'swarm logs',
    summary: 'show the messages and tool calls of an agent',
    args: '<NAME>',
    options: [{ flags: '-f, --follow', summary: 'keep printing new messages' }, project],
    completes: 'sandboxes',
    examples: ['swarm logs login --follow'],
    load: async () => (await import('./logs.ts')).swarmLogs,
  },
  {
    name: 'swarm resume',
    summary:
      'continue what failed or was stopped (default: all); completed stories are kept, options left out keep their values',
    args: '[NAME...]',
    fields: { names: 'NAME' },
    options: [agent, ...surroundings, pr, { flags: '-d, --detach', summary: 'run in the background' }, project],
    examples: ['swarm resume', 'swarm resume login --agent codex'],
    load: async () => (await import('./commands.ts')).swarmResume,
  },
  {
    name: 'swarm stop',
    summary: 'stop what is pending or running (default: all)',
    args: '[NAME...]',
    fields: { names: 'NAME' },
    options: [project],
    examples: ['swarm stop login'],
    load: async () => (await import('./commands.ts')).swarmStop,
  },
];

/** Commands for scripts that run containers themselves and record them in the swarm’s state. */
const stateCommands: readonly CommandEntry[] = [
  {
    name: 'swarm ls',
    summary: 'print name and status of each container, separated by a tab',
    options: [project],
    examples: ['swarm ls'],
    load: async () => (await import('./commands.ts')).swarmList,
  },
  {
    name: 'swarm export',
    summary: 'print the state of the swarm as JSON',
    options: [
      {
        flags: '--file <FILE>',
        field: 'file',
        summary: 'also write it to this file of the project after every change',
      },
      { flags: '--no-file', summary: 'stop writing the file' },
      project,
    ],
    examples: ['swarm export', 'swarm export --file state.json'],
    load: async () => (await import('./commands.ts')).swarmExport,
  },
  {
    name: 'swarm init',
    summary: 'for scripts: start a new swarm that replaces the one before',
    options: [project, { flags: '--force', summary: 'even if containers are pending or running' }],
    examples: ['swarm init'],
    load: async () => (await import('./commands.ts')).swarmInit,
  },
  {
    name: 'swarm add',
    summary: 'for scripts: record a container that the script runs',
    args: '<ID> <NAME> <TASK-FILE> <BRANCH>',
    fields: { containerId: 'ID', containerName: 'NAME', taskFilePath: 'TASK-FILE', branchName: 'BRANCH' },
    options: [project],
    examples: ['swarm add 3f2a9c41d7e0 login .carrel/tasks/2026-01-31-login-tasks.json feat/login'],
    load: async () => (await import('./commands.ts')).swarmAdd,
  },
  {
    name: 'swarm update',
    summary: 'for scripts: update the record of a container',
    args: '<NAME>',
    fields: { containerName: 'NAME' },
    options: [
      {
        flags: '--status <STATUS>',
        field: 'status',
        summary: 'status of the container',
        choices: containerStatuses,
      },
      { flags: '--pr-url <URL>', field: 'prUrl', summary: 'URL of its pull request' },
      { flags: '--story-progress <JSON>', field: 'storyProgress', summary: 'number of stories by status, as JSON' },
      { flags: '--acp-pid <PID>', field: 'acpPid', summary: 'process id of its adapter, or null' },
      project,
    ],
    examples: ['swarm update login --status running'],
    load: async () => (await import('./update.ts')).swarmUpdate,
  },
  {
    name: 'swarm rm',
    summary: 'remove the record of a container; one that Carrel manages has to have ended',
    args: '<NAME>',
    fields: { containerName: 'NAME' },
    options: [project],
    examples: ['swarm rm login'],
    load: async () => (await import('./commands.ts')).swarmRemove,
  },
  {
    name: 'swarm clean',
    summary: 'remove the records of ended containers and print their number',
    options: [project],
    examples: ['swarm clean'],
    load: async () => (await import('./commands.ts')).swarmCleanup,
  },
];

const policyCommands: readonly CommandEntry[] = [
  {
    name: 'policy check',
    summary:
      'decide whether an agent may run a command without asking: the one after --, or a tool call as JSON on stdin',
    usage: '[options] [-- CMD…]',
    options: [{ flags: '--hook', summary: 'print the answer as a PreToolUse hook of Claude Code' }],
    takesCommand: true,
    examples: ['policy check -- rm -rf build'],
    load: async () => (await import('../../agent/cli/policy-check.ts')).policyCheck,
  },
];

const commands: readonly CommandEntry[] = [...runCommands, ...stateCommands, ...taskCommands, ...policyCommands];

const names: NameSources = {
  agents: {
    pattern: /^[a-z][a-z0-9-]*$/,
    list: async ({ home }) => (await import('./agent-names.ts')).agentNames(home),
  },
};

export const swarm: Area = { heading: 'Swarms:', groups, commands, names };
