/** The commands for the first hour, and those that shells call. */
import type { Area } from '../cli.ts';
import type { CommandTable } from './completion.ts';

/** `table`: every command, for `completion`. */
export const gettingStarted = (table: () => CommandTable): Area => ({
  heading: 'Getting started:',
  commands: [
    {
      name: 'demo',
      summary:
        'see three agents work side by side on a sample project, in a folder of its own or in DIR; no key, no network',
      args: '[DIR]',
      completes: 'files',
      load: () => import('./demo.ts'),
    },
    {
      name: 'init',
      summary: 'write a carrel.yaml for the projects in this folder',
      load: () => import('./init.ts'),
    },
    {
      name: 'completion',
      summary: 'print a completion script for bash, zsh or fish',
      args: '<SHELL>',
      completes: ['bash', 'zsh', 'fish'],
      load: async () => ({ default: (await import('./completion.ts')).completionOf(table()) }),
    },
    {
      name: '__names',
      summary: 'names of sandboxes or other things, for completion',
      args: '[KIND] [OF]',
      hidden: true,
      load: () => import('./names.ts'),
    },
  ],
});
