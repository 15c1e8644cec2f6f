/** The commands about projects and the hub over them. */

import type { Area, CommandEntry, GroupEntry, NameSources } from '../../../client/cli.ts';
import { projectIdPattern, projectModes } from '../../project/model/project.ts';
import { defaultGroups, toolGroups } from '../model/token.ts';
import { clientNames } from './client/client.ts';

const toolsText = `groups of tools, separated by commas: ${toolGroups.join(', ')} (default ${defaultGroups.join(',')})`;

const groups: readonly GroupEntry[] = [
  { name: 'project', summary: 'folders that the hub offers to MCP clients' },
  { name: 'hub', summary: 'tools over all projects, for MCP clients' },
];

const commands: readonly CommandEntry[] = [
  {
    name: 'project add',
    summary: 'register a folder as a project, or one that is elsewhere',
    args: '[DIR]',
    fields: { folder: 'DIR' },
    options: [
      { flags: '--name <ID>', field: 'id', summary: 'its id; left out, the name of the folder' },
      { flags: '--test <CMD>', field: 'test', summary: 'the shell command that runs its tests' },
      {
        flags: '--lang <LANGUAGES>',
        field: 'languages',
        summary: 'language servers that may be used, separated by commas, such as ts,python; left out, by type of file',
      },
      {
        flags: '--image <IMAGE>',
        field: 'image',
        summary:
          'the image of its sandbox, on a Docker Engine, with a toolchain of its own; left out, the programs of the host',
      },
      {
        flags: '--mode <MODE>',
        field: 'mode',
        summary:
          'bind: edits are in the folder at once; overlay: after carrel apply; elsewhere: a program there connects (default bind)',
        choices: projectModes,
      },
    ],
    completes: 'files',
    examples: ['project add .', 'project add ~/shop --name shop --test "npm test"'],
    load: async () => (await import('../../project/cli/commands.ts')).projectAdd,
  },
  {
    name: 'project ls',
    summary: 'list projects',
    examples: ['project ls'],
    load: async () => (await import('../../project/cli/commands.ts')).projectLs,
  },
  {
    name: 'project show',
    summary: 'show one project',
    args: '<ID>',
    completes: 'projects',
    examples: ['project show shop'],
    load: async () => (await import('../../project/cli/commands.ts')).projectShow,
  },
  {
    name: 'project rm',
    summary: 'remove a project and its sandbox; the folder stays',
    args: '<ID>',
    completes: 'projects',
    options: [{ flags: '-f, --force', summary: 'also if its sandbox has changes that were not applied' }],
    examples: ['project rm shop'],
    load: async () => (await import('../../project/cli/commands.ts')).projectRm,
  },
  {
    name: 'hub token',
    summary: 'make a token for the hub; hub token ls lists them, hub token rm revokes them',
    args: '[ls|rm] [ID...]',
    usage: '--project ID,… [--tools GROUP,…] [--expires TIME] [--file FILE] | ls | rm ID… | rm --all',
    options: [
      { flags: '--project <IDS>', field: 'projects', summary: "the projects, separated by commas, or '*' for all" },
      { flags: '--tools <GROUPS>', field: 'groups', summary: toolsText },
      { flags: '--expires <TIME>', field: 'expiresSeconds', summary: 'how long it is valid (default 8h)' },
      { flags: '--file <FILE>', summary: 'write it to this file, which only you can read, and print its id instead' },
      { flags: '--all', summary: 'with rm: revoke all tokens and replace the key that signs them' },
    ],
    completes: ['ls', 'rm'],
    examples: ['hub token --project shop --tools files,code --expires 30d', 'hub token ls'],
    load: async () => (await import('./token.ts')).hubToken,
  },
  {
    name: 'hub serve',
    summary: 'speak MCP on stdin and stdout; MCP clients start this command',
    options: [
      {
        flags: '--project <IDS>',
        field: 'projects',
        summary: 'only these projects, separated by commas (default all)',
      },
      { flags: '--tools <GROUPS>', field: 'groups', summary: toolsText },
    ],
    examples: ['hub serve', 'hub serve --project shop'],
    load: async () => (await import('./serve.ts')).hubServe,
  },
  {
    name: 'hub connect',
    summary: 'print or install the settings of an MCP client for the hub; without --client, list the clients',
    options: [
      { flags: '--client <CLIENT>', summary: 'the client', choices: clientNames },
      { flags: '--write', summary: "put the settings into the client's file, with a backup" },
      { flags: '--project <IDS>', summary: 'only these projects, separated by commas (default all)' },
      { flags: '--tools <GROUPS>', summary: toolsText },
    ],
    examples: ['hub connect --client claude-code --write'],
    load: async () => (await import('./connect.ts')).hubConnect,
  },
  {
    name: 'hub spoke',
    summary: 'print the program that connects a project elsewhere to the hub: one file for Node 20 or newer',
    examples: ['hub spoke'],
    load: async () => (await import('./commands.ts')).hubSpoke,
  },
  {
    name: 'hub tools',
    summary: 'list the tools of the hub',
    examples: ['hub tools'],
    load: async () => (await import('./commands.ts')).hubTools,
  },
  {
    name: 'hub call',
    summary: 'call one tool with JSON, such as read_file \'{"project":"shop","path":"README.md"}\'',
    args: '<TOOL> [JSON]',
    examples: ['hub call list_projects', 'hub call read_file \'{"project":"shop","path":"README.md"}\''],
    load: async () => (await import('./commands.ts')).hubCall,
  },
];

const names: NameSources = {
  projects: {
    pattern: projectIdPattern,
    list: async ({ client, signal }) => (await client.call('GET /v1/projects', { signal })).map(({ id }) => id),
  },
};

export const hub: Area = { heading: 'Hub:', groups, commands, names };
