/** The commands about agents in terminals. */

import type { Area, CommandEntry, OptionEntry } from '../../../client/cli.ts';
import { engineNames } from '../../../model/engine.ts';
import { agentGrantOptions, serviceOption } from '../../sandbox/cli/grant-options.ts';
import { terminalAgents } from '../model/table.ts';

const options: readonly OptionEntry[] = [
  { flags: '--new', field: 'new', summary: 'create another sandbox beside the existing one' },
  { flags: '--engine <ENGINE>', field: 'engine', summary: 'engine that runs the sandbox', choices: engineNames },
  {
    flags: '--network <RULES>',
    field: 'network',
    summary: 'hosts that it may connect to besides its service: HOST[:PORT] or a preset,…, such as npm,github',
  },
  {
    flags: '-e, --env <K=V>',
    field: 'env',
    summary: 'set an environment variable, K alone: to its value here; may be repeated',
    repeat: true,
  },
  serviceOption,
  ...agentGrantOptions,
];

/** `carrel agent claude`, and `carrel claude` for short. */
function openCommands(): CommandEntry[] {
  return Object.keys(terminalAgents).flatMap((agent) => [entry(`agent ${agent}`, agent), entry(agent, agent)]);
}

function entry(name: string, agent: string): CommandEntry {
  return {
    name,
    summary: `open ${agent} in the sandbox of a project; Ctrl-P Ctrl-Q leaves it running`,
    args: '[PROJECT]',
    fields: { project: 'PROJECT' },
    usage: '[options] [PROJECT] [-- ARGS…]',
    options,
    takesCommand: true,
    completes: 'files',
    examples: [`${name} .`, `${name} . --new --network npm,github`],
    load: async () => (await import('./open.ts')).opens(agent),
  };
}

export const agent: Area = {
  heading: 'Agents:',
  groups: [{ name: 'agent', summary: 'agents in terminals, each in a sandbox' }],
  commands: [
    ...openCommands(),
    {
      name: 'agent ls',
      summary: 'list the agents, where their programs are, and their keys',
      examples: ['agent ls'],
      load: async () => (await import('./commands.ts')).ls,
    },
    {
      name: 'agent login',
      summary:
        'store the login of an agent on this machine as a secret; the proxy adds it to requests, outside of sandboxes',
      args: '<AGENT>',
      completes: Object.keys(terminalAgents),
      examples: ['agent login claude'],
      load: async () => (await import('./commands.ts')).login,
    },
    {
      name: 'agent install',
      summary:
        "install or upgrade an agent's program from npm, for all your sandboxes; VERSION is one of npm (default latest)",
      args: '<AGENT> [VERSION]',
      completes: Object.keys(terminalAgents),
      examples: ['agent install claude', 'agent install codex 0.166.0'],
      load: async () => (await import('./install.ts')).install,
    },
  ],
};
