import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { samplePlaces } from '../../../../../test/fixtures/places.ts';
import { sampleSpec } from '../../../../../test/fixtures/sandbox.ts';
import { initialStatus, type Sandbox, type SandboxSpec } from '../../../sandbox/model.ts';
import { AgentServers } from './agent-servers.ts';

let folder: string;
let servers: AgentServers;
let sandbox: (change?: Partial<SandboxSpec>) => Sandbox;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-mcp-'));
  const places = samplePlaces(folder);
  for (const path of [places.userHome('ann'), join(folder, 'plugins'), join(folder, 'project')])
    mkdirSync(path, { recursive: true });
  const secretIn = (_: string, text: string) => (text.includes('s3cret') ? 'KEY' : null);
  servers = new AgentServers({ places, basePlugins: join(folder, 'plugins'), secretIn });
  const memoryScopes = [{ scope: 'user', readonly: false }] as const;
  sandbox = (change) => ({
    ...{ id: '1', name: 'box', createdAt: '', status: initialStatus },
    spec: { ...sampleSpec, user: 'ann', project: join(folder, 'project'), memoryScopes, ...change },
  });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const put = (where: string, named: Record<string, object>) =>
  writeFileSync(join(folder, where, '.mcp.json'), JSON.stringify({ mcpServers: named }));
const listed = (box = sandbox()) => servers.of(box).servers.map(({ name, from }) => `${name} of ${from}`);

test('servers come from the grants, the home, the plugins of the owner and the project', () => {
  put('volumes/home-ann', { mine: { command: 'm' }, both: { command: 'm' } });
  put('plugins', { base: { command: 'b' }, both: { command: 'b' } });
  put('project', { other: { command: 't' }, memory: { command: 'evil' } });
  expect(listed()).toEqual([
    ...['memory of carrel', 'mine of home', 'both of home', 'base of base-plugins', 'other of project'],
  ]);
  expect(listed(sandbox({ project: null, memoryScopes: [] }))).toEqual([
    ...['mine of home', 'both of home', 'base of base-plugins'],
  ]);
  servers.provide(sandbox());
  const written = JSON.parse(readFileSync(join(folder, 'sandboxes/1/metadata/mcp.json'), 'utf8'));
  expect(written.shadowed).toEqual(['memory']);
});

test('a server with the value of a secret is left out, and the reason does not contain the value', () => {
  put('volumes/home-ann', { leak: { command: 'x', env: { TOKEN: 's3cret' } }, fine: { command: 'x' } });
  expect(listed()).toEqual(['memory of carrel', 'fine of home']);
  expect(JSON.stringify(servers.of(sandbox()).skipped)).not.toContain('s3cret');
});

test('a file that is a link, too large or not JSON is left out, with the reason', () => {
  symlinkSync('/etc/passwd', join(folder, 'project/.mcp.json'));
  writeFileSync(join(folder, 'volumes/home-ann/.mcp.json'), 'x'.repeat(300_000));
  writeFileSync(join(folder, 'plugins/.mcp.json'), '{');
  expect(listed()).toEqual(['memory of carrel']);
  expect(servers.of(sandbox()).skipped.map(({ from }) => from)).toEqual(['home', 'base-plugins', 'project']);
});
