/** The commands about working copies. */
import { gateKinds } from '../../model/change.ts';
import type { Area, CommandEntry, OptionEntry } from '../cli.ts';

const applyOptions: readonly OptionEntry[] = [
  { flags: '-n, --dry-run', summary: 'only say what would happen' },
  { flags: '--theirs', summary: 'where both changed something, take the agent’s' },
  { flags: '--ours', summary: 'where both changed something, keep the project’s' },
  { flags: '--markers', summary: 'where both changed something, write both between conflict markers' },
  { flags: '--leave', summary: 'take everything but conflicts and what is not allowed' },
  {
    flags: '--allow <KIND>',
    field: 'allow',
    summary: 'take what could later run something on this machine; may be repeated',
    choices: [...gateKinds, 'all'],
    repeat: true,
  },
  { flags: '--always', summary: 'with --allow: from now on, for this project, without being asked' },
  {
    flags: '--ask <KIND>',
    field: 'ask',
    summary: 'end what --always began, and take nothing; may be repeated',
    choices: [...gateKinds, 'all'],
    repeat: true,
  },
];

const commands: readonly CommandEntry[] = [
  {
    name: 'diff',
    summary: 'show what the agent changed',
    args: '<NAME> [PATH...]',
    fields: { paths: 'PATH' },
    options: [
      { flags: '--stat', summary: 'only how much, file by file' },
      { flags: '--name-status', summary: 'only names, each with A, M, D, R or T' },
    ],
    completes: 'sandbox-files',
    load: () => import('./diff.ts'),
  },
  {
    name: 'apply',
    summary: 'take changes over into the project, all or none',
    args: '<NAME> [PATH...]',
    fields: { names: 'NAME', paths: 'PATH' },
    options: [
      ...applyOptions,
      {
        flags: '--branch <BRANCH>',
        field: 'branch',
        summary: 'commit onto this branch and leave the project’s files alone',
      },
      { flags: '-m, --message <MESSAGE>', field: 'message', summary: 'what the commit says' },
    ],
    completes: 'sandbox-files',
    load: () => import('./apply.ts'),
  },
  {
    name: 'merge',
    summary: 'take the changes of several sandboxes over, in this order',
    args: '<NAME> <NAME...>',
    fields: { names: 'NAME' },
    options: applyOptions,
    completes: 'sandboxes',
    load: () => import('./merge.ts'),
  },
  {
    name: 'undo',
    summary: 'take the last apply back',
    args: '<NAME>',
    completes: 'sandbox',
    load: () => import('./undo.ts'),
  },
  {
    name: 'discard',
    summary: 'give changes up; a snapshot keeps them',
    args: '<NAME> [PATH...]',
    fields: { paths: 'PATH' },
    options: [{ flags: '-y, --yes', summary: 'do not ask' }],
    completes: 'sandbox-files',
    load: () => import('./discard.ts'),
  },
  {
    name: 'patch',
    summary: 'print the changes for git am',
    args: '<NAME> [PATH...]',
    fields: { paths: 'PATH' },
    options: [{ flags: '-m, --message <MESSAGE>', field: 'message', summary: 'what the commit will say' }],
    completes: 'sandbox-files',
    load: () => import('./patch.ts'),
  },
  {
    name: 'snapshot',
    summary: 'keep its files as they are now and print the snapshot’s id',
    args: '<NAME> [LABEL]',
    fields: { label: 'LABEL' },
    completes: 'sandbox',
    load: () => import('./snapshot.ts'),
  },
  {
    name: 'snapshots',
    summary: 'list its snapshots',
    args: '<NAME>',
    completes: 'sandbox',
    load: () => import('./snapshots.ts'),
  },
  {
    name: 'restore',
    summary: 'go back to a snapshot; what is there now becomes one first',
    args: '<NAME> <SNAPSHOT>',
    fields: { snapshot: 'SNAPSHOT' },
    completes: 'sandbox-snapshots',
    load: () => import('./restore.ts'),
  },
  {
    name: 'fork',
    summary: 'make new sandboxes, stopped, that begin where this one is',
    args: '<NAME> [NEW...]',
    fields: { names: 'NEW' },
    completes: 'sandbox',
    load: () => import('./fork.ts'),
  },
  {
    name: 'trust',
    summary: 'let the carrel.yaml in this folder, or in DIR, give sandboxes what it gives as it is',
    args: '[DIR]',
    fields: { file: 'DIR' },
    completes: 'files',
    load: () => import('./trust.ts'),
  },
];

export const workspace: Area = { heading: 'Workspaces:', commands };
