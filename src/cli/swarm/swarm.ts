/** The commands about task files, swarms and what agents may run. */
import { engineNames } from '../../model/sandbox.ts';
import { containerStatuses } from '../../model/swarm.ts';
import type { Area, CommandEntry, GroupEntry, OptionEntry } from '../cli.ts';

const agent: OptionEntry = {
  flags: '--agent <NAME>',
  field: 'agent',
  summary: 'who does the work: claude, codex, gemini, opencode, or one of config.yaml',
  completes: 'agents',
};

const project: OptionEntry = {
  flags: '--project <DIR>',
  field: 'project',
  summary: 'the project of the swarm (default: the folder here)',
};

const pr: OptionEntry = {
  flags: '--pr',
  summary: 'push the branches of what is completed and open pull requests, with gh',
};

/** What the sandboxes of a swarm may have, as `run` has it. */
const surroundings: readonly OptionEntry[] = [
  { flags: '--engine <ENGINE>', field: 'engine', summary: 'what makes the sandboxes', choices: engineNames },
  {
    flags: '--image <REF>',
    field: 'image',
    summary: 'an image of the owner’s list instead of the project’s own (engine docker)',
    completes: 'images',
  },
  {
    flags: '--rootfs <PATH>',
    field: 'rootfs',
    summary: 'a folder or tarball as root filesystem instead of the host’s /usr',
  },
  { flags: '--cpus <N>', field: 'limits.cpus', summary: 'processors each may use (default 2)' },
  { flags: '--memory <SIZE>', field: 'limits.memoryBytes', summary: 'memory each may use (default 4g)' },
  { flags: '--strict', summary: 'refuse limits that cannot be enforced here, instead of saying so' },
  { flags: '--env <K=V>', field: 'env', summary: 'set a variable inside; may be repeated', repeat: true },
  {
    flags: '--secret <NAME>',
    field: 'secrets',
    summary: 'give them a secret; may be repeated',
    repeat: true,
    completes: 'secrets',
  },
  {
    flags: '--credential <NAME>',
    field: 'credentials',
    summary: 'have a credential added to their requests, outside; may be repeated',
    repeat: true,
    completes: 'credentials',
  },
  {
    flags: '--network <RULES>',
    field: 'network',
    summary: 'what they may reach: none, or HOST[:PORT] after HOST[:PORT] with commas between',
  },
];

const groups: readonly GroupEntry[] = [
  { name: 'swarm', summary: 'task files being worked on, each by an agent in a sandbox of its own' },
  { name: 'task', summary: 'files of stories for agents to work on' },
  { name: 'policy', summary: 'what agents may run on this machine without a question' },
];

const taskCommands: readonly CommandEntry[] = [
  {
    name: 'task ls',
    summary: 'list the task files of a project (here), or the stories of one file',
    args: '[PATH]',
    fields: { file: 'PATH', project: 'PATH' },
    completes: 'files',
    load: () => import('./task-ls.ts'),
  },
  {
    name: 'task validate',
    summary: 'say what is wrong with task files, line by line; all of the project unless named',
    args: '[FILE...]',
    fields: { file: 'FILE' },
    completes: 'files',
    load: () => import('./task-validate.ts'),
  },
  {
    name: 'task ready',
    summary: 'show the stories that can be begun, the most urgent first',
    args: '[FILE]',
    fields: { file: 'FILE' },
    completes: 'files',
    load: () => import('./task-ready.ts'),
  },
  {
    name: 'task mark',
    summary: 'change the status of a story: in_progress, completed, failed or skipped',
    args: '<FILE> <STORY> <STATUS>',
    fields: { file: 'FILE', story: 'STORY', status: 'STATUS' },
    options: [
      { flags: '--notes <TEXT>', field: 'notes', summary: 'what to remember with it' },
      { flags: '--force', summary: 'although stories it depends on are neither completed nor skipped' },
    ],
    completes: 'files',
    load: () => import('./task-mark.ts'),
  },
  {
    name: 'task skip',
    summary: 'skip a story and what is pending behind it',
    args: '<FILE> <STORY>',
    fields: { file: 'FILE', story: 'STORY' },
    completes: 'files',
    load: () => import('./task-skip.ts'),
  },
  {
    name: 'task reset',
    summary: 'let stories fail that are in progress while nobody works on them',
    args: '<FILE>',
    fields: { file: 'FILE' },
    completes: 'files',
    load: () => import('./task-reset.ts'),
  },
];

const runCommands: readonly CommandEntry[] = [
  {
    name: 'swarm run',
    summary: 'have task files worked on, each by an agent in a sandbox of its own, and read along; Ctrl-C leaves',
    options: [
      { flags: '--file <FILE>', field: 'files', summary: 'one task file' },
      { flags: '--files <A,B>', field: 'files', summary: 'several task files' },
      { flags: '--all', summary: 'all task files of the project that have something to do' },
      { flags: '--max <N>', field: 'max', summary: 'how many are worked on at once (default 4)' },
      agent,
      ...surroundings,
      pr,
      { flags: '-d, --detach', summary: 'begin and do not read along' },
      project,
    ],
    load: () => import('./swarm-run.ts'),
  },
  {
    name: 'swarm status',
    summary: 'show how the swarm stands; on a terminal until it has ended',
    options: [project],
    load: () => import('./swarm-status.ts'),
  },
  {
    name: 'swarm logs',
    summary: 'show what the agent of a task file said and did, as a conversation',
    args: '<NAME>',
    options: [{ flags: '-f, --follow', summary: 'go on with what it says' }, project],
    completes: 'sandboxes',
    load: () => import('./swarm-logs.ts'),
  },
  {
    name: 'swarm resume',
    summary:
      'begin again what has failed or was stopped, all of it unless named; finished stories stay finished, and options that are left out stay as they were',
    args: '[NAME...]',
    fields: { names: 'NAME' },
    options: [agent, ...surroundings, pr, { flags: '-d, --detach', summary: 'begin and do not read along' }, project],
    load: () => import('./swarm-resume.ts'),
  },
  {
    name: 'swarm stop',
    summary: 'stop what is pending or running, all of it unless named',
    args: '[NAME...]',
    fields: { names: 'NAME' },
    options: [project],
    load: () => import('./swarm-stop.ts'),
  },
];

/** For scripts written against the commands of aimi; the state they keep is that of the swarm. */
const stateCommands: readonly CommandEntry[] = [
  {
    name: 'swarm ls',
    summary: 'print the name and the status of each container, with a tab between',
    options: [project],
    load: () => import('./swarm-ls.ts'),
  },
  {
    name: 'swarm export',
    summary: 'print the state as one JSON document',
    options: [
      {
        flags: '--file <FILE>',
        field: 'file',
        summary: 'also keep it in this file of the project, written again after every change',
      },
      { flags: '--no-file', summary: 'keep it in a file no longer' },
      project,
    ],
    load: () => import('./swarm-export.ts'),
  },
  {
    name: 'swarm init',
    summary: 'for scripts: begin a swarm in the place of the one before',
    options: [project, { flags: '--force', summary: 'although something is pending or running' }],
    load: () => import('./swarm-init.ts'),
  },
  {
    name: 'swarm add',
    summary: 'for scripts: note a container that the script looks after',
    args: '<ID> <NAME> <TASK-FILE> <BRANCH>',
    fields: { containerId: 'ID', containerName: 'NAME', taskFilePath: 'TASK-FILE', branchName: 'BRANCH' },
    options: [project],
    load: () => import('./swarm-add.ts'),
  },
  {
    name: 'swarm update',
    summary: 'for scripts: note how such a container stands',
    args: '<NAME>',
    fields: { containerName: 'NAME' },
    options: [
      {
        flags: '--status <STATUS>',
        field: 'status',
        summary: 'its status',
        choices: containerStatuses,
      },
      { flags: '--pr-url <URL>', field: 'prUrl', summary: 'where its pull request is' },
      { flags: '--story-progress <JSON>', field: 'storyProgress', summary: 'how many stories stand how' },
      { flags: '--acp-pid <PID>', field: 'acpPid', summary: 'the process of its adapter, or null' },
      project,
    ],
    load: () => import('./swarm-update.ts'),
  },
  {
    name: 'swarm rm',
    summary: 'for scripts: forget a container',
    args: '<NAME>',
    fields: { containerName: 'NAME' },
    options: [project],
    load: () => import('./swarm-rm.ts'),
  },
  {
    name: 'swarm clean',
    summary: 'forget what has ended and print how many these were',
    options: [project],
    load: () => import('./swarm-clean.ts'),
  },
];

const policyCommands: readonly CommandEntry[] = [
  {
    name: 'policy check',
    summary: 'say whether a command may run without a question: the one after --, or a tool call as JSON on stdin',
    usage: '[options] [-- CMD…]',
    options: [{ flags: '--hook', summary: 'answer as a PreToolUse hook of Claude Code does' }],
    takesCommand: true,
    load: () => import('./policy-check.ts'),
  },
];

const commands: readonly CommandEntry[] = [...runCommands, ...stateCommands, ...taskCommands, ...policyCommands];

export const swarm: Area = { heading: 'Swarms:', groups, commands };
