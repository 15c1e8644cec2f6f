import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { comeAs, type ServedApp, serve, withToken } from '../../../test/fixtures/served.ts';
import { Fault } from '../../model/fault.ts';

let { home, engine, app, shared, call, addUser, dispose }: ServedApp = {} as ServedApp;
beforeEach(() => {
  ({ home, engine, app, shared, call, addUser, dispose } = serve());
});
afterEach(() => dispose());

describe('the audit log', () => {
  const line = async (door: Hono, headers = {}) => {
    const text = await (await door.request('/v1/audit', { headers })).text();
    const entries = [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!));
    return entries.map(({ user, as, verb, targets, outcome }) =>
      [user, as ?? '-', verb, targets.map(({ name }: { name: string }) => name).join(','), outcome].join(' '),
    );
  };

  it('has user, verb, target and outcome, also of refusals, and only the owner reads acts of others', async () => {
    const token = await addUser('bob');
    const bob = withToken(token);
    await call('POST', '/v1/sandboxes', { name: 'box', user: 'bob' });
    await call('GET', '/v1/sandboxes');
    await comeAs(app, { 'carrel-user': 'bob' }, 'POST', '/v1/sandboxes/box/stop', {});
    await comeAs(shared, bob, 'DELETE', '/v1/sandboxes/box');
    await comeAs(shared, bob, 'DELETE', '/v1/users/ann');
    await comeAs(shared, bob, 'POST', '/v1/sandboxes', { name: 'x', user: 'ann' });
    await comeAs(shared, { ...bob, 'carrel-user': 'ann' }, 'GET', '/v1/sandboxes');
    await comeAs(shared, withToken('carrel_x'), 'POST', '/v1/shutdown', {});
    const all = await line(app);
    expect(all).toEqual([
      'ann - user.add bob ok',
      'ann bob sandbox.create box ok',
      'ann bob sandbox.stop box ok',
      'bob - sandbox.remove box ok',
      'bob - user.remove ann denied',
      'bob ann sandbox.create x not_found',
      'bob - access ann not_found',
      ' - access  unauthenticated',
    ]);
    expect(await line(shared, bob)).toEqual(all.filter((one) => one.startsWith('bob')));
    expect((await shared.request('/v1/audit')).status).toBe(401);
  });

  it('has the id of a sandbox, because another one can get its name later', async () => {
    const { id } = (await call('POST', '/v1/sandboxes', { name: 'box' })).body as { id: string };
    await call('POST', '/v1/sandboxes/box/stop', {});
    const stopped = readFileSync(join(home, 'audit/audit.log'), 'utf8').trimEnd().split('\n').at(-1)!;
    expect(JSON.parse(stopped)).toMatchObject({ verb: 'sandbox.stop', targets: [{ name: 'box', id }] });
  });

  it('has the engine, network, home and grants of a sandbox', async () => {
    await call('POST', '/v1/sandboxes', { name: 'box', network: ['example.com', '*.example.org:22'] });
    await call('POST', '/v1/sandboxes/box/network', { deny: ['example.com'] });
    await call('POST', '/v1/sandboxes', { name: 'writer', home: 'shared' });
    const volumes = [{ volume: 'cache', target: '/cache' }];
    const shared = { shares: [{ share: 'inbox' }], rooms: [{ room: 'team' }] };
    const memoryScopes = [{ scope: 'user', readonly: true }];
    await call('POST', '/v1/sandboxes', { name: 'rich', volumes, ...shared, memoryScopes });
    const text = await (await app.request('/v1/audit')).text();
    const entries = [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json!));
    expect(entries.map(({ detail }) => detail)).toEqual([
      { engine: 'local', network: ['example.com', '*.example.org:22'] },
      { deny: ['example.com'] },
      { engine: 'local', home: 'shared' },
      { engine: 'local', volumes: ['cache'], shares: ['inbox'], rooms: ['team'], memoryScopes: ['user'] },
    ]);
  });

  it('has no values, variables, arguments, or invalid names that users typed', async () => {
    const canary = 'Canary0123';
    await call('POST', '/v1/sandboxes', {
      name: 'box',
      env: { A: canary },
      command: ['sh', canary],
      labels: { a: canary },
    });
    await call('POST', `/v1/sandboxes/${canary}/stop`, {});
    await call('POST', '/v1/sandboxes', { name: canary });
    await call('DELETE', '/v1/sandboxes/box?force=true');
    const kept = readdirSync(join(home, 'audit')).map((name) => readFileSync(join(home, 'audit', name), 'utf8'));
    expect(kept.join('')).not.toContain(canary);
    expect(await line(app)).toEqual([
      'ann - sandbox.create box ok',
      'ann - sandbox.stop  invalid',
      'ann - sandbox.create  invalid',
      'ann - sandbox.remove box ok',
    ]);
  });

  it('has no text of a request that was refused because it contains the value of a secret', async () => {
    const value = 'hidden-0123';
    await call('POST', '/v1/secrets', { name: 'KEY', valueBase64: Buffer.from(value).toString('base64') });
    await call('POST', '/v1/sandboxes', { name: 'box' });
    const at = '/v1/sandboxes/box';
    const [project, file] = ['/p', `/p/${value}.json`];
    const author = { name: value, email: 'a@b' };
    const container = {
      project,
      containerId: '0123456789ab',
      containerName: 'c',
      taskFilePath: 'a.json',
      branchName: 'b',
    };
    const refused: [string, object][] = [
      [`${at}/snapshots`, { label: `before ${value}` }],
      [`${at}/fork`, { names: ['a', value] }],
      [`${at}/network`, { allow: [`${value}.org`] }],
      [`${at}/network`, { deny: [`${value}.org`] }],
      ['/v1/apply', { names: ['box'], branch: `agent/${value}` }],
      ['/v1/apply', { names: ['box'], branch: 'b', message: value }],
      ['/v1/apply', { names: ['box'], branch: 'b', author }],
      ['/v1/credentials', { name: value, secret: 'KEY', preset: 'github' }],
      ['/v1/credentials', { name: 'gh', secret: 'KEY', host: 'a.org', header: 'b', format: `${value} {}` }],
      ['/v1/tasks/mark', { file: '/p/a.json', story: 'US-001', status: 'failed', notes: value }],
      ['/v1/swarm/run', { project, sandbox: { env: { A: value } } }],
      ['/v1/swarm/run', { project, author }],
      ['/v1/swarm/add', { ...container, containerName: value }],
      ['/v1/swarm/add', { ...container, taskFilePath: file }],
      ['/v1/swarm/add', { ...container, branchName: value }],
      ['/v1/swarm/update', { project, containerName: 'c', prUrl: `https://a.org/?token=${value}` }],
      ['/v1/users', { name: value }],
      ['/v1/sandboxes', { network: [`${value}.org`] }],
    ];
    for (const [path, body] of refused) {
      const answer = await call('POST', path, body);
      expect([path, answer.status, (answer.body as { message: string }).message]).toEqual([
        ...[path, 403],
        expect.stringMatching(/carries the value of the secret KEY$/),
      ]);
    }
    const kept = readdirSync(join(home, 'audit')).map((name) => readFileSync(join(home, 'audit', name), 'utf8'));
    expect(kept.join('')).not.toContain(value);
    expect((await line(app)).filter((one) => one.endsWith(' denied'))).toHaveLength(refused.length);
  });

  it('is kept free of hosts with the value of a secret: they are refused, also in lower case', async () => {
    const value = 'Hidden-0123';
    await call('POST', '/v1/secrets', { name: 'KEY', valueBase64: Buffer.from(value).toString('base64') });
    for (const host of [value, value.toLowerCase()]) {
      const { status } = await call('POST', '/v1/sandboxes', { network: [`${host}.org`] });
      expect(status).toBe(403);
    }
    const kept = readFileSync(join(home, 'audit/audit.log'), 'utf8');
    expect(kept).toContain('denied');
    expect(kept.toLowerCase()).not.toContain(value.toLowerCase());
  });

  it('has the outcome of acts whose answer is a stream, too', async () => {
    const build = async (body: object) =>
      (await app.request('/v1/images/build', { method: 'POST', body: JSON.stringify(body) })).text();
    expect(await build({})).toContain('unsupported');
    expect(await build({ project: '/p' })).toContain('/p');
    const entries = readFileSync(join(home, 'audit/audit.log'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((one) => JSON.parse(one));
    expect(entries).toMatchObject([
      { verb: 'image.build', outcome: 'unsupported' },
      { verb: 'image.build', outcome: 'ok', detail: { project: '/p' } },
    ]);
  });

  it('is written before the answer, and after the act', async () => {
    engine.faults.failNext('start', new Fault('unsupported', 'no runtime'));
    await call('POST', '/v1/sandboxes', { name: 'box' });
    const log = () => readFileSync(join(home, 'audit/audit.log'), 'utf8').trimEnd().split('\n');
    expect(log().map((one) => JSON.parse(one).outcome)).toEqual(['unsupported']);
    expect(readFileSync(join(home, 'audit/unfinished'), 'utf8').trim()).toBe('');
  });
});
