/**
 * Commands that are allowed by default: reading state, stories, swarms, sandboxes without grants, and images built from
 * the working folder. No rule allows a command that changes a project or grants a sandbox anything: no `apply`, no
 * `--mode bind`, no network, secret, share or volume, no `--force`, no other home or user. Inside a sandbox only the
 * adapter may be run.
 */
import type { Rule } from './rule.ts';

const follow = { '-f': null, '--follow': null } as const;
const createFlags = {
  '--name': 'sandbox',
  '--engine': 'engine',
  '--mode': 'mode',
  '--cpus': 'count',
  '--memory': 'size',
  '--swap': 'size',
  '--pids': 'count',
  '--disk': 'size',
} as const;

const readingState: readonly Rule[] = [
  { words: ['status'] },
  { words: ['doctor'] },
  { words: ['events'], flags: { ...follow, '--after': 'count' } },
  { words: ['ls'], flags: { '--size': null } },
  { words: ['show'], args: ['sandbox'] },
  { words: ['logs'], args: ['sandbox'], flags: { ...follow, '--tail': 'count' } },
  { words: ['wait'], args: ['sandbox'] },
  { words: ['stats'] },
  { words: ['diff'], args: ['sandbox'], flags: { '--stat': null, '--name-status': null } },
  { words: ['snapshots'], args: ['sandbox'] },
  { words: ['volume', 'ls'] },
  { words: ['volume', 'status'] },
  { words: ['image', 'ls'] },
  { words: ['policy', 'check'] },
];

const sandboxes: readonly Rule[] = [
  { words: ['create'], optional: ['project'], flags: createFlags, command: 'adapter' },
  { words: ['exec'], args: ['sandbox'], flags: { '-i': null, '--interactive': null }, command: 'adapter' },
  { words: ['start'], args: ['sandbox'], rest: 'sandbox' },
  { words: ['restart'], args: ['sandbox'], rest: 'sandbox', flags: { '--grace': 'count' } },
  { words: ['stop'], args: ['sandbox'], rest: 'sandbox', flags: { '--grace': 'count' } },
  { words: ['rm'], args: ['sandbox'], rest: 'sandbox' },
  { words: ['snapshot'], args: ['sandbox'], optional: ['word'] },
  { words: ['fork'], args: ['sandbox'], rest: 'sandbox' },
  { words: ['image', 'build'], optional: ['path'], flags: { '--offline': null }, requiredFlag: '--offline' },
];

const tasks: readonly Rule[] = [
  { words: ['task', 'ls'], optional: ['path'] },
  { words: ['task', 'validate'], rest: 'path' },
  { words: ['task', 'ready'], optional: ['path'] },
  { words: ['task', 'mark'], args: ['path', 'story', 'storyStatus'], flags: { '--notes': 'text' } },
  { words: ['task', 'skip'], args: ['path', 'story'] },
  { words: ['task', 'reset'], args: ['path'] },
];

const project = { '--project': 'path' } as const;
const swarms: readonly Rule[] = [
  {
    words: ['swarm', 'run'],
    projectFlag: '--project',
    flags: {
      '--project': 'project',
      '--file': 'path',
      '--files': 'paths',
      '--all': null,
      '--max': 'count',
      '--agent': 'agent',
      '--engine': 'engine',
      '-d': null,
      '--detach': null,
    },
  },
  { words: ['swarm', 'status'], flags: project },
  { words: ['swarm', 'ls'], flags: project },
  { words: ['swarm', 'resume'], rest: 'container', flags: { ...project, '-d': null, '--detach': null } },
  { words: ['swarm', 'stop'], rest: 'container', flags: project },
  { words: ['swarm', 'clean'], flags: project },
  { words: ['swarm', 'export'], flags: project },
  { words: ['swarm', 'init'], flags: project },
  { words: ['swarm', 'add'], args: ['containerId', 'container', 'path', 'branch'], flags: project },
  {
    words: ['swarm', 'update'],
    args: ['container'],
    flags: {
      ...project,
      '--status': 'containerStatus',
      '--pr-url': 'word',
      '--story-progress': 'progress',
      '--acp-pid': 'word',
    },
  },
  { words: ['swarm', 'rm'], args: ['container'], flags: project },
];

export const defaultRules: readonly Rule[] = [...readingState, ...sandboxes, ...tasks, ...swarms];
