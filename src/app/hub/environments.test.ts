import { expect, it } from 'vitest';
import type { SandboxRequest } from '../../api/sandbox.ts';
import type { Project } from '../../model/project.ts';
import type { Sandbox, SandboxSpec } from '../../model/sandbox.ts';
import { Environments, environmentLabel } from './environments.ts';

const shop: Project = { id: 'shop', folder: '/p/shop', mode: 'bind', test: null, createdAt: '' };
const store: Project = { ...shop, id: 'store', folder: '/p/store' };

function sandbox(name: string, project: Project, spec: Partial<SandboxSpec> = {}): { value: Sandbox } {
  const labels = { [environmentLabel]: project.id };
  return { value: { name, spec: { labels, project: project.folder, mode: 'overlay', ...spec } } as unknown as Sandbox };
}

function environments(rows: { value: Sandbox }[], allowed: string[] = []) {
  const asked: unknown[] = [];
  const noted = (verb: string) => async (value: unknown) => {
    asked.push([verb, value]);
    return { name: 'made', id: '1' };
  };
  const check = ({ network = allowed }: SandboxRequest) => ({ network: { allow: network === 'none' ? [] : network } });
  const parts = {
    sandboxes: { rows: () => rows, check },
    routes: { create: noted('create'), remove: noted('remove') },
  };
  return { environments: new Environments(parts as never), asked };
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
  const { environments: all, asked } = environments([sandbox('of-store', store)]);
  await all.create(shop, { name: 'a' }, signal());
  expect(asked).toMatchObject([['create', { name: 'shop-a', project: '/p/shop', mode: 'overlay' }]]);
  expect(() => all.apply(shop, { names: ['of-store'] })).toThrow(/no environment/);
});

it('an environment with a host that the user does not allow is refused; fewer hosts are accepted', async () => {
  const { environments: all, asked } = environments([], ['a.example', 'b.example']);
  await expect(all.create(shop, { network: ['a.example', 'c.example'] }, signal())).rejects.toMatchObject({
    code: 'denied',
    message: expect.stringContaining('c.example'),
  });
  await all.create(shop, { network: ['a.example'] }, signal());
  await all.create(shop, { network: 'none' }, signal());
  expect(asked).toMatchObject([
    ['create', { network: ['a.example'] }],
    ['create', { network: 'none' }],
  ]);
});

it('an environment whose creation was cancelled is removed', async () => {
  const { environments: all, asked } = environments([]);
  await expect(all.create(shop, {}, AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
  expect(asked).toMatchObject([
    ['create', {}],
    ['remove', 'made'],
  ]);
});

it('a project has at most a hundred environments', async () => {
  const { environments: all } = environments(Array.from({ length: 100 }, (_, n) => sandbox(`shop-${n}`, shop)));
  await expect(all.create(shop, {}, signal())).rejects.toMatchObject({ code: 'exhausted' });
});
