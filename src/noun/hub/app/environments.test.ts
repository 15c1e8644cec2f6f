import { expect, it } from 'vitest';
import { Fault } from '../../../model/fault.ts';
import type { Project } from '../../project/model/project.ts';
import type { SandboxRequest } from '../../sandbox/api.ts';
import type { Sandbox, SandboxSpec } from '../../sandbox/model.ts';
import { Environments, environmentLabel } from './environments.ts';

const shop: Project = { id: 'shop', folder: '/p/shop', mode: 'bind', test: null, createdAt: '' };
const store: Project = { ...shop, id: 'store', folder: '/p/store' };

function sandbox(name: string, project: Project, spec: Partial<SandboxSpec> = {}): { value: Sandbox } {
  const labels = { [environmentLabel]: project.id };
  return { value: { name, spec: { labels, project: project.folder, mode: 'overlay', ...spec } } as unknown as Sandbox };
}

function environments(rows: { value: Sandbox }[], allowed: string[] = []) {
  const calls: unknown[] = [];
  const call = async (key: string, { path, query, body }: { path?: object; query?: object; body?: object }) => {
    calls.push([key, { ...path, ...query, ...body }]);
    return { name: 'made', id: '1' };
  };
  const check = ({ network = allowed }: SandboxRequest) => ({ network: { allow: network === 'none' ? [] : network } });
  const parts = { sandboxes: { rows: () => rows, check }, call };
  return { environments: new Environments(parts as never), calls };
}

const signal = () => new AbortController().signal;

it('the environments of a project are the sandboxes that tools created for it, without secrets and grants', () => {
  const foreign = [
    sandbox('of-store', store),
    sandbox('own', shop, { labels: {} }),
    sandbox('elsewhere', shop, { project: '/p/other' }),
    sandbox('bound', shop, { mode: 'bind' }),
    sandbox('leaving', shop, { desired: 'removed' }),
    sandbox('with-secret', shop, { secrets: ['key'] }),
    sandbox('with-credential', shop, { credentials: [{}] as never }),
    sandbox('with-service', shop, { services: [{}] as never }),
    sandbox('with-volume', shop, { volumes: [{}] as never }),
    sandbox('with-room', shop, { rooms: [{}] as never }),
    sandbox('with-memory', shop, { memoryScopes: [{}] as never }),
  ];
  const { environments: all } = environments([...foreign, sandbox('shop-a', shop)]);
  expect(all.names(shop)).toEqual(['shop-a']);
  for (const { value } of foreign) expect(() => all.find(shop, value.name)).toThrow(/^project shop has no environment/);
});

it('an environment is named after its project, and only environments of the project can be applied', async () => {
  const { environments: all, calls } = environments([sandbox('of-store', store)]);
  await all.create(shop, { name: 'a' }, signal());
  expect(calls).toMatchObject([['POST /v1/sandboxes', { name: 'shop-a', project: '/p/shop', mode: 'overlay' }]]);
  expect(() => all.apply(shop, { names: ['of-store'] })).toThrow(/no environment/);
});

it('an environment with a host that the user does not allow is refused; fewer hosts are accepted', async () => {
  const { environments: all, calls } = environments([], ['a.example', 'b.example']);
  await expect(all.create(shop, { network: ['a.example', 'c.example'] }, signal())).rejects.toMatchObject({
    code: 'denied',
    message: expect.stringContaining('c.example'),
  });
  await all.create(shop, { network: ['a.example'] }, signal());
  await all.create(shop, { network: 'none' }, signal());
  expect(calls).toMatchObject([
    ['POST /v1/sandboxes', { network: ['a.example'] }],
    ['POST /v1/sandboxes', { network: 'none' }],
  ]);
});

it('an environment whose creation was cancelled is removed', async () => {
  const { environments: all, calls } = environments([]);
  await expect(all.create(shop, {}, AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
  expect(calls).toMatchObject([
    ['POST /v1/sandboxes', {}],
    ['DELETE /v1/sandboxes/{name}', { name: 'made', id: '1', force: true, running: true }],
  ]);
});

it('a project has at most a hundred environments', async () => {
  const { environments: all } = environments(Array.from({ length: 100 }, (_, n) => sandbox(`shop-${n}`, shop)));
  await expect(all.create(shop, {}, signal())).rejects.toMatchObject({ code: 'exhausted' });
});

it('a command that is refused is in the audit log, and starts nothing', async () => {
  const logged: unknown[] = [];
  const box = { ...sandbox('shop-a', shop).value, id: '1', status: { state: 'running' } };
  const parts = {
    ...{ user: 'ann', by: { token: 't' }, exec: () => expect.unreachable() },
    sandboxes: {
      rows: () => [{ value: box }],
      current: async () => ({ value: box }),
      checkCommand: () => {
        throw new Fault('denied', 'the command carries a secret');
      },
      wait: () => new Promise(() => {}),
    },
    audit: {
      begin: ({ verb, targets }: { verb: string; targets: unknown }) => ({
        end: (outcome: string) => logged.push({ verb, targets, outcome }),
      }),
    },
  };
  const run = new Environments(parts as never).run(shop, 'shop-a', { command: ['x'] } as never, {} as never);
  await expect(run).rejects.toMatchObject({ code: 'denied' });
  expect(logged).toEqual([{ verb: 'sandbox.exec', targets: [{ name: 'shop-a', id: '1' }], outcome: 'denied' }]);
});
