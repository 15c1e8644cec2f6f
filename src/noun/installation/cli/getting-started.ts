/** The commands for new users, and the one that completion scripts call. */
import type { Area } from '../../../client/cli.ts';

export const gettingStarted: Area = {
  heading: 'Getting started:',
  commands: [
    {
      name: 'demo',
      summary:
        'run three scripted agents on a sample project, in a temporary directory or in DIR; needs no key and no network',
      args: '[DIR]',
      completes: 'files',
      examples: ['demo'],
      load: () => import('./demo/demo.ts'),
    },
    {
      name: 'init',
      summary: 'write a carrel.yaml for the projects in this directory',
      examples: ['init'],
      load: () => import('./init/init.ts'),
    },
    {
      name: 'completion',
      summary: 'print a completion script for bash, zsh or fish',
      args: '<SHELL>',
      completes: ['bash', 'zsh', 'fish'],
      examples: ['completion bash'],
      load: () => import('../../../client/completion/command.ts'),
    },
    {
      name: '__names',
      summary: 'names of sandboxes or other things, for completion',
      args: '[KIND] [OF]',
      hidden: true,
      examples: ['__names sandbox'],
      load: () => import('../../sandbox/cli/names.ts'),
    },
  ],
};
