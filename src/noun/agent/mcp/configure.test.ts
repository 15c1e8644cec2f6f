import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { samplePlaces } from '../../../../test/fixtures/places.ts';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import { initialStatus, type Sandbox, type SandboxSpec } from '../../sandbox/model.ts';
import { configured } from './configure.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carrel-configure-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const configure = '/opt/carrel/bin/carrel-configure';

function started(origins: readonly string[] | null, change: Partial<SandboxSpec> = {}): readonly string[] {
  const places = samplePlaces(folder);
  const spec = { ...sampleSpec, command: ['make'], ...change };
  const sandbox: Sandbox = { id: '1', name: 'box', createdAt: '', status: initialStatus, spec };
  mkdirSync(join(places.sandbox('1'), 'metadata'), { recursive: true });
  const list = { servers: origins?.map((from) => ({ name: from, from })), shadowed: [] };
  if (origins !== null) writeFileSync(join(places.sandbox('1'), 'metadata/mcp.json'), JSON.stringify(list));
  return configured.command!(sandbox, places, spec.command);
}

test('with MCP servers a command is started after the files of agents are written', () => {
  expect(started(null)).toEqual(['make']);
  expect(started([])).toEqual(['make']);
  expect(started(['carrel', 'project'])).toEqual([configure, 'make']);
  expect(started(['home'], { command: [] })).toEqual([configure, 'sleep', 'infinity']);
});

test('servers of only a project are written for agents that Carrel starts and in idle sandboxes', () => {
  expect(started(['project'])).toEqual(['make']);
  expect(started(['project'], { command: ['/opt/carrel/bin/carrel-agent', 'x'] })[0]).toBe(configure);
  expect(started(['project'], { command: [] })[0]).toBe(configure);
});

test('servers of an earlier start are removed at the next start', () => {
  mkdirSync(join(folder, 'sandboxes/1/state/data'), { recursive: true });
  writeFileSync(join(folder, 'sandboxes/1/state/data/agent-mcp.json'), '{}');
  expect(started([])).toEqual([configure, 'make']);
});

test('a sandbox with the home of its user removes servers that another sandbox added there', () => {
  mkdirSync(join(folder, `volumes/home-${sampleSpec.user}/.config/carrel`), { recursive: true });
  writeFileSync(join(folder, `volumes/home-${sampleSpec.user}/.config/carrel/mcp.json`), '{}');
  expect(started([])).toEqual(['make']);
  expect(started([], { sharedHome: true })).toEqual([configure, 'make']);
});

test('a link made by an agent does not reveal whether a file exists on this machine', () => {
  const home = join(folder, `volumes/home-${sampleSpec.user}`);
  for (const path of ['sandboxes/1/state/data', 'outside/carrel']) mkdirSync(join(folder, path), { recursive: true });
  mkdirSync(home, { recursive: true });
  writeFileSync(join(folder, 'outside/carrel/mcp.json'), '{}');
  symlinkSync(join(folder, 'outside/carrel/mcp.json'), join(folder, 'sandboxes/1/state/data/agent-mcp.json'));
  symlinkSync(join(folder, 'outside'), join(home, '.config'));
  expect(started([], { sharedHome: true })).toEqual(['make']);
});
