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
      load: async () => (await import('./demo/demo.ts')).demo,
    },
    {
      name: 'init',
      summary: 'write a carrel.yaml for the projects in this directory',
      examples: ['init'],
      load: async () => (await import('./init/init.ts')).init,
    },
    {
      name: 'completion',
      summary: 'print a completion script for bash, zsh or fish',
      args: '<SHELL>',
      completes: ['bash', 'zsh', 'fish'],
      examples: ['completion bash'],
      load: async () => (await import('../../../client/completion/command.ts')).completion,
    },
    {
      name: '__complete',
      summary: 'what can follow the words after --, for completion scripts',
      args: '<SHELL>',
      takesPaths: true,
      hidden: true,
      examples: ['__complete fish -- ls --'],
      load: async () => (await import('../../sandbox/cli/complete.ts')).complete,
    },
    {
      name: '__names',
      summary: 'names of sandboxes or other things, for completion scripts of older builds',
      args: '[KIND] [OF]',
      hidden: true,
      examples: ['__names sandbox'],
      load: async () => (await import('../../sandbox/cli/complete.ts')).printNames,
    },
  ],
};
