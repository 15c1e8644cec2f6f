/**
 * The MCP servers that agents find in a real sandbox: those of base plugins, home and project in the formats of all
 * agents, and the hub.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { McpView } from '../../src/noun/agent/api/mcp.ts';
import { Installation } from '../harness/installation.ts';

/** A variable in the syntax of claude. */
const variable = '$' + '{HOST}';
const secret = 'sk-of-the-plugin-0123456789';
let carrel: Installation;
let shop: string;
let plugins: string;

type Named = Record<string, Record<string, unknown>>;

/** Settings that a person wrote before Carrel added a server: comments, other keys, servers. */
const written: Readonly<Record<string, string>> = {
  '.claude.json': '{"theme":"dark","mcpServers":{"own":{"type":"stdio","command":"own"}}}\n',
  '.codex/config.toml': '# mine\nmodel = "x"\n\n[mcp_servers.own]\ncommand = "own"\n',
  '.gemini/settings.json': '// mine\n{"theme":"x","mcpServers":{"own":{"command":"own"}}}\n',
  '.config/opencode/opencode.json': '// mine\n{"theme":"x","mcp":{"own":{"type":"local","command":["own"]}}}\n',
};

beforeAll(async () => {
  carrel = new Installation();
  shop = carrel.folder('shop');
  writeFileSync(join(shop, 'name'), 'shop\n');
  await carrel.run(['secret', 'set', 'KEY'], { input: secret });
  plugins = carrel.folder('plugins');
  await provide({ tools: local('/p/tools', ['--all'], { HOST: variable }), leak: local('x', [], { KEY: secret }) });
  writeFileSync(join(shop, '.mcp.json'), JSON.stringify({ mcpServers: { tools: { command: 'evil' } } }));
  const script = Object.entries(written).map(([path, text]) => `mkdir -p $(dirname ${path}); ${put(path, text)}`);
  const mine = put('.mcp.json', JSON.stringify({ mcpServers: { mine: { url: 'https://a.example/mcp' } } }));
  await carrel.ok('home', 'shell', '--', 'sh', '-c', `cd; ${[...script, mine].join('; ')}`);
  await carrel.ok('create', '--name', 'box', '--service', 'hub', '--memory-scope', 'user', shop);
}, 60_000);
afterAll(() => carrel.dispose());

const local = (command: string, args: string[] = [], env: object = {}) => ({ command, args, env });
const put = (path: string, text: string) => `printf %s '${text}' > ${path}`;
const inside = (script: string, name = 'box') => carrel.ok('exec', name, '--', 'sh', '-c', script);

/** Copies a file with these servers into the volume of base plugins. */
async function provide(mcpServers: object): Promise<void> {
  mkdirSync(plugins, { recursive: true });
  writeFileSync(join(plugins, '.mcp.json'), JSON.stringify({ mcpServers }));
  await carrel.ok('volume', 'init', '--plugins', plugins);
}

function tomlOf(input: string): Record<string, Named> {
  const program = 'import json, sys, tomllib; print(json.dumps(tomllib.load(sys.stdin.buffer)))';
  return JSON.parse(execFileSync('python3', ['-c', program], { input, encoding: 'utf8' }));
}

/** The servers in the file of each agent. */
async function configured(): Promise<Record<'claude' | 'codex' | 'gemini' | 'opencode', Named>> {
  const [claude, codex, gemini, opencode] = await Promise.all(
    Object.keys(written).map((path) => inside(`cat ~/${path}`)),
  );
  const json = (text = '') => JSON.parse(text.replace('// mine\n', '')) as Record<string, Named>;
  return {
    claude: json(claude).mcpServers!,
    codex: tomlOf(codex!).mcp_servers!,
    gemini: json(gemini).mcpServers!,
    opencode: json(opencode).mcp!,
  };
}

it('all four agents find the servers of base plugins, of the home and of Carrel in their own format', async () => {
  const { claude, codex, gemini, opencode } = await configured();
  const names = ['own', 'memory', 'hub', 'mine', 'tools'];
  for (const found of [claude, codex, gemini, opencode]) expect(Object.keys(found).sort()).toEqual(names.sort());
  const env = { HOST: variable };
  expect(claude.tools).toEqual({ type: 'stdio', command: '/p/tools', args: ['--all'], env });
  expect(codex.tools).toEqual({ command: '/p/tools', args: ['--all'], env_vars: ['HOST'] });
  expect(gemini.tools).toEqual({ command: '/p/tools', args: ['--all'], env });
  const environment = { HOST: '{env:HOST}' };
  expect(opencode.tools).toEqual({ type: 'local', command: ['/p/tools', '--all'], environment, enabled: true });
  expect(claude.mine).toEqual({ type: 'http', url: 'https://a.example/mcp', headers: {} });
  expect([codex.mine, gemini.mine, opencode.mine]).toMatchObject([
    { url: 'https://a.example/mcp' },
    { httpUrl: 'https://a.example/mcp' },
    { type: 'remote', url: 'https://a.example/mcp' },
  ]);
});

it('a server with a secret is left out, and a project replaces none of the owner', async () => {
  const { servers, skipped } = await carrel.json<McpView>('mcp', 'ls', 'box');
  expect(servers.map(({ name, from }) => `${name} of ${from}`)).toEqual([
    ...['memory of carrel', 'hub of carrel', 'mine of home', 'tools of base-plugins'],
  ]);
  expect(skipped.map(({ name, from }) => `${name} of ${from}`)).toEqual(['leak of base-plugins', 'tools of project']);
  const files = await inside('cat ~/.claude.json ~/.codex/* ~/.gemini/* ~/.config/opencode/* /run/carrel/metadata/*');
  expect(files).not.toContain(secret);
});

it('a change of plugins keeps what the user and the agent wrote, and does not touch what the agent changed', async () => {
  const agent = ['codex/config.toml', 'gemini/settings.json'].map(
    (path) => `sed -i 's|/p/tools|/agent/tools|' ~/.${path}`,
  );
  await inside([...agent, 'printf \'\\n[mcp_servers.agents]\\ncommand = "a"\\n\' >> ~/.codex/config.toml'].join('; '));
  await provide({ extra: local('/p/extra') });
  writeFileSync(join(shop, '.mcp.json'), '{}');
  await carrel.ok('stop', 'box');
  await carrel.ok('start', 'box');
  const { claude, codex, gemini, opencode } = await configured();
  for (const found of [claude, codex, gemini, opencode])
    expect(found).toMatchObject({ own: {}, mine: {}, memory: {}, extra: {} });
  expect([claude.tools, opencode.tools]).toEqual([undefined, undefined]);
  expect([codex.tools, gemini.tools, codex.agents]).toMatchObject([
    ...[{ command: '/agent/tools' }, { command: '/agent/tools' }, { command: 'a' }],
  ]);
  expect(await inside('cat ~/.claude.json')).toContain('"theme": "dark"');
  for (const path of Object.keys(written).slice(1))
    expect([path, await inside(`cat ~/${path}`)]).toEqual([path, expect.stringContaining('mine')]);
});

/** A program that calls a tool of the hub as an agent's MCP client does. */
const client = `
const url = process.env.CARREL_HUB_URL;
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...JSON.parse(process.argv[2] ?? '{}') };
const send = async (message, more = {}) => {
  const answer = await fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  const text = await answer.text();
  return { session: answer.headers.get('mcp-session-id'), status: answer.status, value: text === '' ? null : JSON.parse(text.replace(/^[^]*?data: (?=\\{)/, '')) };
};
const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'agent', version: '1' } };
const hello = await send({ id: 1, method: 'initialize', params });
const session = { 'mcp-session-id': hello.session };
await send({ method: 'notifications/initialized' }, session);
const call = JSON.parse(process.argv[1]);
const { value, status } = await send({ id: 2, method: call.name ? 'tools/call' : 'tools/list', params: call }, session);
console.log(JSON.stringify(value ?? { status }));
`;

interface Called {
  readonly result: {
    readonly isError?: boolean;
    readonly structuredContent?: Record<string, unknown>;
    readonly content: readonly { readonly text: string }[];
    readonly tools: readonly { readonly name: string }[];
  };
}

async function callHub(sandbox: string, call: object, headers: object = {}): Promise<Called['result']> {
  const run = ['node', '--input-type=module', '-e', client, JSON.stringify(call), JSON.stringify(headers)];
  return (JSON.parse(await carrel.ok('exec', sandbox, '--', ...run)) as Called).result;
}
const tool = (name: string, input: object = {}) => ({ name, arguments: input });

it('an agent uses the hub on the project of its sandbox, and on no other one, without a token', async () => {
  const bank = carrel.folder('bank');
  writeFileSync(join(bank, 'name'), 'bank\n');
  await carrel.ok('project', 'add', shop, '--mode', 'overlay');
  await carrel.ok('project', 'add', bank, '--mode', 'overlay');
  const listed = await callHub('box', tool('list_projects'));
  expect(listed.structuredContent).toMatchObject({ projects: [{ id: 'shop' }] });
  const read = await callHub('box', tool('read_file', { project: 'shop', path: 'name' }));
  expect(read.structuredContent).toMatchObject({ content: 'shop\n' });
  const forged = { 'x-carrel-caller': '{"id":"x"}', authorization: 'Bearer x' };
  for (const headers of [{}, forged]) {
    const other = await callHub('box', tool('read_file', { project: 'bank', path: 'name' }), headers);
    expect(other).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('not_found') }] });
  }
  const names = (await callHub('box', {})).tools.map(({ name }) => name);
  expect(names).toContain('find_references');
  expect(names.filter((name) => /environment|swarm|room|memory|apply_changes/.test(name))).toEqual([]);
}, 60_000);

it('a file that an agent writes through the hub stays in the working copy of the spoke, and the audit log names the sandbox', async () => {
  const written = await callHub('box', tool('write_file', { project: 'shop', path: 'made', content: 'x' }));
  expect(written.isError).toBeUndefined();
  expect(existsSync(join(shop, 'made'))).toBe(false);
  const lines = carrel.read('home/audit/audit.log').trimEnd().split('\n');
  expect(JSON.parse(lines.findLast((line) => line.includes('hub.write_file'))!)).toMatchObject({
    detail: { sandbox: 'box' },
  });
  // A spoke in mode bind would write to the host, and this sandbox has no permission to do so.
  await carrel.ok('project', 'rm', 'shop', '--force');
  await carrel.ok('project', 'add', shop, '--mode', 'bind');
  const refused = await callHub('box', tool('write_file', { project: 'shop', path: 'made', content: 'x' }));
  expect(refused.isError).toBe(true);
  expect(existsSync(join(shop, 'made'))).toBe(false);
}, 60_000);

it('a sandbox without the grant has no hub server, no variable and no port of the hub', async () => {
  await carrel.ok('create', '--name', 'bare', '--memory-scope', 'user', shop);
  const { servers } = await carrel.json<McpView>('mcp', 'ls', 'bare');
  expect(servers.map(({ name }) => name)).not.toContain('hub');
  expect(await inside('echo "[$CARREL_HUB_URL$CODEBUDDY_URL]"', 'bare')).toBe('[]\n');
  const { exitCode } = await carrel.run(['exec', 'bare', '--', 'curl', '-s', 'http://127.0.0.1:17008/mcp']);
  expect(exitCode).toBe(7);
});
