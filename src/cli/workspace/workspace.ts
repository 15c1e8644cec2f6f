/** The commands about working copies. */
import { gateKinds } from '../../model/change.ts';
import type { Area, CommandEntry, OptionEntry } from '../cli.ts';

const applyOptions: readonly OptionEntry[] = [
  { flags: '-n, --dry-run', summary: 'show the result and change nothing' },
  { flags: '--ignored', summary: 'also what git ignores' },
  { flags: '--theirs', summary: 'resolve conflicts with the agent’s version' },
  { flags: '--ours', summary: 'resolve conflicts with the project’s version' },
  { flags: '--markers', summary: 'write conflict markers into the files' },
  { flags: '--leave', summary: 'skip conflicts and changes that are not allowed, apply the rest' },
  {
    flags: '--allow <KIND>',
    field: 'allow',
    summary: 'allow changes that could run code on this machine later, by kind; may be repeated',
    choices: [...gateKinds, 'all'],
    repeat: true,
  },
  { flags: '--always', summary: 'with --allow: remember it for this project' },
  {
    flags: '--ask <KIND>',
    field: 'ask',
    summary: 'forget an --allow KIND --always and apply nothing; may be repeated',
    choices: [...gateKinds, 'all'],
    repeat: true,
  },
];

const commands: readonly CommandEntry[] = [
  {
    name: 'diff',
    summary: 'show the changes in a sandbox’s working copy',
    args: '<NAME> [PATH...]',
    fields: { paths: 'PATH' },
    options: [
      { flags: '--ignored', summary: 'also what git ignores' },
      { flags: '--stat', summary: 'only the number of changed lines per file' },
      { flags: '--name-status', summary: 'only paths, each with A, M, D, R or T' },
    ],
    completes: 'sandbox-files',
    examples: ['diff agent', "diff agent '*.ts' ':!docs'", 'diff --stat --ignored agent'],
    load: () => import('./diff.ts'),
  },
  {
    name: 'apply',
    summary: 'apply the changes of a sandbox to the project, all or none',
    args: '<NAME> [PATH...]',
    fields: { names: 'NAME', paths: 'PATH' },
    options: [
      ...applyOptions,
      {
        flags: '--branch <BRANCH>',
        field: 'branch',
        summary: 'commit to this branch instead of changing the project’s files',
      },
      { flags: '-m, --message <MESSAGE>', field: 'message', summary: 'commit message' },
    ],
    completes: 'sandbox-files',
    examples: ['apply agent', "apply agent 'src/*.ts'", 'apply --branch try-1 agent'],
    load: () => import('./apply.ts'),
  },
  {
    name: 'merge',
    summary: 'apply the changes of several sandboxes to the project, in this order',
    args: '<NAME> <NAME...>',
    fields: { names: 'NAME' },
    options: applyOptions,
    completes: 'sandboxes',
    load: () => import('./merge.ts'),
  },
  {
    name: 'undo',
    summary: 'revert the last apply',
    args: '<NAME>',
    completes: 'sandbox',
    load: () => import('./undo.ts'),
  },
  {
    name: 'discard',
    summary: 'throw changes away; a snapshot of them is kept',
    args: '<NAME> [PATH...]',
    fields: { paths: 'PATH' },
    options: [{ flags: '-y, --yes', summary: 'do not ask for confirmation' }],
    completes: 'sandbox-files',
    load: () => import('./discard.ts'),
  },
  {
    name: 'patch',
    summary: 'print the changes as a patch for git am',
    args: '<NAME> [PATH...]',
    fields: { paths: 'PATH' },
    options: [
      { flags: '--ignored', summary: 'also what git ignores' },
      { flags: '-m, --message <MESSAGE>', field: 'message', summary: 'commit message' },
    ],
    completes: 'sandbox-files',
    load: () => import('./patch.ts'),
  },
  {
    name: 'snapshot',
    summary: 'save the files of a sandbox and print the snapshot’s id',
    args: '<NAME> [LABEL]',
    fields: { label: 'LABEL' },
    completes: 'sandbox',
    load: () => import('./snapshot.ts'),
  },
  {
    name: 'snapshots',
    summary: 'list the snapshots of a sandbox',
    args: '<NAME>',
    completes: 'sandbox',
    load: () => import('./snapshots.ts'),
  },
  {
    name: 'restore',
    summary: 'go back to a snapshot; the present state is saved as one first',
    args: '<NAME> <SNAPSHOT>',
    fields: { snapshot: 'SNAPSHOT' },
    completes: 'sandbox-snapshots',
    load: () => import('./restore.ts'),
  },
  {
    name: 'fork',
    summary: 'create stopped sandboxes with a copy of this one’s files',
    args: '<NAME> [NEW...]',
    fields: { names: 'NEW' },
    completes: 'sandbox',
    load: () => import('./fork.ts'),
  },
  {
    name: 'trust',
    summary: 'trust what a carrel.yaml grants to sandboxes (network, secrets, volumes, …), here or in DIR',
    args: '[DIR]',
    fields: { file: 'DIR' },
    completes: 'files',
    load: () => import('./trust.ts'),
  },
];

export const workspace: Area = { heading: 'Workspaces:', commands };
