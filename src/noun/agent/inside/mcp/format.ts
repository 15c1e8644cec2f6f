/** The files in which agents find their MCP servers, below the home, each in the agent's own format. */

import { isLocal, type LocalServer, type McpServer, type RemoteMcpServer } from '../../model/mcp.ts';
import type { AgentFile, ConfigAddition, McpList } from './mcp.ts';

export function agentFiles(list: McpList): AgentFile[] {
  return [...claudeFiles(list), codexFile(list), geminiFile(list), opencodeFile(list)];
}

/** claude reads the project's file itself; the lists answer its question which of these servers to use. */
function claudeFiles({ servers, shadowed }: McpList): AgentFile[] {
  const others = servers.filter(({ from }) => from !== 'project');
  const fromProject = servers.filter(({ from }) => from === 'project');
  const item = (key: string) => (value: string) => ({ kind: 'item', path: [key], value }) as const;
  return [
    { path: '.claude.json', wanted: values('mcpServers', others, { local: claudeLocal, remote: claudeRemote }) },
    {
      path: '.claude/settings.json',
      wanted: [
        ...fromProject.map(({ name }) => name).map(item('enabledMcpjsonServers')),
        ...shadowed.map(item('disabledMcpjsonServers')),
      ],
    },
  ];
}

const claudeLocal = ({ command, args, env }: LocalServer) => ({ type: 'stdio', command, args, env });
const claudeRemote = ({ url, headers }: RemoteMcpServer) => ({ type: 'http', url, headers });

function geminiFile({ servers }: McpList): AgentFile {
  const local = ({ command, args, env }: LocalServer) => ({ command, args, env });
  const remote = ({ url, headers }: RemoteMcpServer) => ({ httpUrl: url, headers });
  return { path: '.gemini/settings.json', wanted: values('mcpServers', servers, { local, remote }) };
}

function opencodeFile({ servers }: McpList): AgentFile {
  const local = ({ command, args, env }: LocalServer) => ({
    ...{ type: 'local', command: [command, ...args].map(named), environment: mapped(env), enabled: true },
  });
  const remote = ({ url, headers }: RemoteMcpServer) => ({
    ...{ type: 'remote', url: named(url), headers: mapped(headers), enabled: true },
  });
  return { path: '.config/opencode/opencode.json', wanted: values('mcp', servers, { local, remote }) };
}

/** `${NAME}` as opencode writes it. */
function named(text: string): string {
  return text.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, '{env:$1}');
}

function mapped(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, named(value)]));
}

interface Shapes {
  local(server: LocalServer): object;
  remote(server: RemoteMcpServer): object;
}

function values(key: string, servers: readonly McpServer[], { local, remote }: Shapes): ConfigAddition[] {
  return servers.map(({ name, server }) => ({
    ...{ kind: 'value', path: [key, name], value: isLocal(server) ? local(server) : remote(server) },
  }));
}

function codexFile({ servers }: McpList): AgentFile {
  const wanted = servers.map(({ name, server }): ConfigAddition => {
    const path = ['mcp_servers', name];
    return { kind: 'table', path, value: `[${path.join('.')}]\n${codexLines(server)}` };
  });
  return { path: '.codex/config.toml', wanted };
}

function codexLines(server: LocalServer | RemoteMcpServer): string {
  if (!isLocal(server)) return lines({ url: text(server.url), http_headers: inline(server.headers) });
  const { command, args, env } = server;
  const passed = Object.entries(env).filter(([name, value]) => value === `\${${name}}`);
  const fixed = Object.entries(env).filter(([name, value]) => value !== `\${${name}}`);
  return lines({
    command: text(command),
    args: list(args),
    env: inline(Object.fromEntries(fixed)),
    // codex passes on variables by their names only.
    env_vars: passed.length === 0 ? null : list(passed.map(([name]) => name)),
  });
}

function lines(fields: Readonly<Record<string, string | null>>): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('');
}

/** A basic string of TOML: JSON, without the control character that JSON leaves as it is. */
function text(value: string): string {
  return JSON.stringify(value).replaceAll('\x7f', '\\u007f');
}

function list(values: readonly string[]): string {
  return `[${values.map(text).join(', ')}]`;
}

function inline(values: Readonly<Record<string, string>>): string | null {
  const pairs = Object.entries(values).map(([name, value]) => `${text(name)} = ${text(value)}`);
  return pairs.length === 0 ? null : `{ ${pairs.join(', ')} }`;
}
