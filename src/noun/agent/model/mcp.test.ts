import { expect, test } from 'vitest';
import { hubService } from '../../hub/model/service.ts';
import { acpServers, joinedServers, ownServers, serversIn, usableServers } from './mcp.ts';

const names = (spec: Parameters<typeof ownServers>[0]) => ownServers(spec).map(({ name }) => name);

test('a sandbox gets the servers of its grants, and no server without a grant', () => {
  expect(names({ env: {} })).toEqual([]);
  expect(names({ env: {}, memoryScopes: [{ scope: 'user', readonly: true }] })).toEqual(['memory']);
  const mount = { name: 'v', target: '/data/memory-bank', readonly: false };
  expect(names({ env: {}, volumes: [mount] })).toEqual([]);
  expect(names({ env: {}, volumes: [{ ...mount, isBank: true }] })).toEqual(['memory-bank']);
  expect(names({ env: {}, rooms: [{ name: 'team', folder: '/r', readonly: true }] })).toEqual(['rooms']);
  expect(ownServers({ env: { CODEBUDDY_URL: 'ws://10.0.0.1:3000' } })).toEqual([
    { name: 'hub', from: 'carrel', server: { url: 'http://10.0.0.1:3000/mcp', headers: {} } },
  ]);
  expect(names({ env: { CARREL_HUB_URL: 'https://me:pw@hub/mcp' } })).toEqual([]);
  const services = [{ name: 'hub', port: hubService.port }];
  expect(ownServers({ env: {}, services })).toEqual([
    { name: 'hub', from: 'carrel', server: { url: 'http://127.0.0.1:17008/mcp', headers: {} } },
  ]);
  expect(names({ env: {}, services: [{ name: 'hub', port: 17_010 }] })).toEqual([]);
});

test('serversIn returns the programs and addresses of a file, and skips unusable entries with a reason', () => {
  const { servers, skipped } = serversIn(
    {
      mcpServers: {
        one: { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { A: '1' }, extra: true },
        two: { type: 'http', url: 'https://a.org/mcp', headers: { Accept: 'x' } },
        'no name': { command: 'x' },
        bad: { command: 7 },
        file: { url: 'file:///etc/passwd' },
        env: { command: 'x', env: { 'A=B': '1' } },
        zero: { command: 'a\0b' },
        half: { command: 'x', args: ['\ud800'] },
        ['__proto__']: { command: 'x' },
        nothing: null,
      },
    },
    'project',
  );
  expect(servers).toEqual([
    { name: 'one', from: 'project', server: { command: 'npx', args: ['-y', 'x'], env: { A: '1' } } },
    { name: 'two', from: 'project', server: { url: 'https://a.org/mcp', headers: { Accept: 'x' } } },
  ]);
  expect(skipped.map(({ name }) => name)).toEqual([
    'no name',
    'bad',
    'file',
    'env',
    'zero',
    'half',
    '__proto__',
    'nothing',
  ]);
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`s${n}`, { command: 'x' }]));
  expect(serversIn({ mcpServers: many }, 'home').servers).toHaveLength(50);
  for (const content of [null, [], 'x', { mcpServers: [] }, {}])
    expect(serversIn(content, 'home')).toEqual({ servers: [], skipped: [] });
});

test('of two servers with one name the first is used, so a project cannot replace a server', () => {
  const list = (from: 'carrel' | 'home' | 'project') =>
    serversIn({ mcpServers: { memory: { command: from }, [from]: { command: from } } }, from);
  const { servers, skipped } = joinedServers([list('carrel'), list('home'), list('project')]);
  expect(servers.map(({ name, from }) => `${name} of ${from}`)).toEqual([
    ...['memory of carrel', 'carrel of carrel', 'home of home', 'project of project'],
  ]);
  expect(skipped).toEqual([
    { name: 'memory', from: 'home', reason: 'carrel has a server of that name' },
    { name: 'memory', from: 'project', reason: 'carrel has a server of that name' },
  ]);
  expect(acpServers(servers)[0]).toEqual({ name: 'memory', command: 'carrel', args: [], env: [] });
});

test('only an agent that takes addresses gets them by the Agent Client Protocol', () => {
  const remote = { name: 'hub', from: 'carrel', server: { url: 'http://a/mcp', headers: { Accept: 'x' } } } as const;
  const local = { name: 'memory', from: 'carrel', server: { command: 'm', args: [], env: { A: '1' } } } as const;
  const all = acpServers([remote, local]);
  expect(all).toEqual([
    { type: 'http', name: 'hub', url: 'http://a/mcp', headers: [{ name: 'Accept', value: 'x' }] },
    { name: 'memory', command: 'm', args: [], env: [{ name: 'A', value: '1' }] },
  ]);
  expect(usableServers(all, true)).toEqual(all);
  expect(usableServers(all, false)).toEqual([all[1]]);
});
