/** The real programs list the MCP servers that Carrel writes into their files, and what a person wrote there. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { configure } from '../../src/noun/agent/inside/mcp/configure.ts';
import type { McpServer } from '../../src/noun/agent/model/mcp.ts';
import { runEnv } from '../harness/run.ts';

const clients = resolve('test/clients/node_modules');
const opencode = ['x64-baseline', 'arm64']
  .map((name) => join(clients, `opencode-linux-${name}/bin/opencode`))
  .find((path) => existsSync(path));
const list: Readonly<Record<string, readonly string[]>> = {
  claude: [resolve('node_modules/.bin/claude'), 'mcp', 'list'],
  codex: [join(clients, '.bin/codex'), 'mcp', 'list'],
  gemini: [join(clients, '.bin/gemini'), 'mcp', 'list'],
  opencode: [opencode ?? 'opencode', 'mcp', 'list'],
};
const local = (name: string): McpServer => ({
  ...{ name, from: 'carrel', server: { command: '/bin/false', args: ['an "arg"'], env: { A: '1' } } },
});
/** An address at which nothing listens. */
const hubUrl = 'http://127.0.0.1:9/mcp';
const hub: McpServer = { name: 'hub', from: 'carrel', server: { url: hubUrl, headers: {} } };
const own: Readonly<Record<string, string>> = {
  '.claude.json': '{"theme":"dark","mcpServers":{"own":{"command":"/bin/false"}}}\n',
  '.codex/config.toml': '# mine\n[mcp_servers.own]\ncommand = "/bin/false"\n',
  '.gemini/settings.json': '// mine\n{"mcpServers":{"own":{"command":"/bin/false"}}}\n',
  '.config/opencode/opencode.json': '// mine\n{"mcp":{"own":{"type":"local","command":["/bin/false"]}}}\n',
};

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'carrel-agents-'));
  for (const [path, text] of Object.entries(own)) {
    mkdirSync(join(home, path, '..'), { recursive: true });
    writeFileSync(join(home, path), text);
  }
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

function output([program = '', ...args]: readonly string[]): Promise<string> {
  const env = { ...runEnv(), PATH: process.env.PATH, HOME: home, NO_COLOR: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' };
  return new Promise((done) => {
    execFile(program, args, { env, cwd: home, timeout: 60_000 }, (_, stdout, stderr) => done(stdout + stderr));
  });
}

it('claude, codex, gemini and opencode list the MCP servers that were added, and those of the user', async () => {
  const refused: string[] = [];
  const servers = [local('memory'), local('memory-bank'), hub];
  configure(home, { servers, shadowed: [] }, (text) => refused.push(text));
  expect(refused).toEqual([]);
  const shown = await Promise.all(Object.values(list).map(output));
  const places = { own: '/bin/false', 'memory-bank': '/bin/false', memory: '/bin/false', hub: hubUrl };
  for (const [index, agent] of Object.keys(list).entries())
    for (const [name, place] of Object.entries(places))
      expect([agent, shown[index]]).toEqual([agent, expect.stringMatching(new RegExp(`\\b${name}\\b.*${place}`, 's'))]);
}, 120_000);

it('fewer grants remove the servers that were added, and every file still has what the user wrote', async () => {
  configure(home, { servers: [local('memory')], shadowed: [] }, () => {});
  expect(await output(list.codex!)).not.toContain('memory-bank');
  configure(home, { servers: [], shadowed: [] }, () => {});
  for (const path of Object.keys(own)) {
    const text = readFileSync(join(home, path), 'utf8');
    expect([path, text]).toEqual([path, expect.stringContaining('own')]);
    expect([path, text]).toEqual([path, expect.not.stringContaining('memory')]);
    if (!path.startsWith('.claude')) expect(text).toContain('mine');
  }
  expect(await output(list.codex!)).toContain('own');
}, 60_000);
