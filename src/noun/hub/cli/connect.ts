/** Prints or installs the settings by which an MCP client starts `carrel hub serve`. */
import { existsSync } from 'node:fs';
import type { Context, Invocation } from '../../../client/cli.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { Fault } from '../../../model/fault.ts';
import { type ClientName, type McpClient, mcpClients } from './client/client.ts';
import { install, isInstalled, settingsText } from './client/install.ts';
import { type ServerEntry, serverEntry } from './client/server-entry.ts';
import { parseGroups, parseProjects } from './grant.ts';

interface Options {
  readonly client?: ClientName;
  readonly write?: boolean;
  readonly project?: string;
  readonly tools?: string;
}

export async function hubConnect(context: Context, { options }: Invocation<Options>): Promise<void> {
  const client = mcpClients().find(({ name }) => name === options.client);
  if (client) {
    const entry = serverEntry(context, serveOptions(options), client.hasPath);
    return options.write ? write(context, client, entry) : print(context, client, entry);
  }
  if (options.write)
    throw new Fault('invalid', '--write needs --client', { hint: 'carrel hub connect lists the clients.' });
  return list(context);
}

/** The options are checked now, because the client would report a mistake later, if at all. */
function serveOptions({ project, tools }: Options): string[] {
  const projects = project === undefined ? '*' : parseProjects(project);
  return [
    ...(projects === '*' ? [] : ['--project', projects.join(',')]),
    ...(tools === undefined ? [] : ['--tools', parseGroups(tools).join(',')]),
  ];
}

async function print({ json, out }: Context, client: McpClient, entry: ServerEntry): Promise<void> {
  if (json) return out.document({ client: client.name, file: client.file, ...entry });
  out.print(settingsText(client, entry));
  out.note(`for ${client.file}; --write puts it there`);
}

async function write({ json, out }: Context, client: McpClient, entry: ServerEntry): Promise<void> {
  const installed = install(client, entry);
  if (json) return out.document({ client: client.name, ...installed });
  out.print(plain(installed.file));
  if (!installed.changed) return out.note('it had these settings already');
  if (installed.backup !== null) out.note(`the file as it was: ${installed.backup}`);
  out.note(`start ${client.name} again; it starts the hub by itself`);
}

async function list({ json, out }: Context): Promise<void> {
  const clients = mcpClients().map((client) => ({
    client: client.name,
    found: existsSync(client.sign),
    installed: isInstalled(client),
    file: client.file,
  }));
  if (json) return out.document(clients);
  const rows = clients.map(({ client, found, installed, file }) => [
    client,
    found ? 'yes' : 'no',
    installed ? 'yes' : 'no',
    plain(file),
  ]);
  out.print(...table([['CLIENT', 'FOUND', 'INSTALLED', 'FILE'], ...rows]));
  out.note('install the hub in one of them with: carrel hub connect --client CLIENT --write');
}
