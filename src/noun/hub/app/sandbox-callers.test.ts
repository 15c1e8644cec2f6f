import { expect, test } from 'vitest';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import type { Project } from '../../project/model/project.ts';
import { initialStatus, type Sandbox, type SandboxSpec } from '../../sandbox/model.ts';
import { hubService } from '../model/service.ts';
import { SandboxCallers } from './sandbox-callers.ts';

const granted = { services: [{ name: hubService.name, port: hubService.port }] };
const project = (id: string, folder: string, mode: Project['mode'] = 'overlay'): Project => ({
  ...{ id, folder, mode, test: null, createdAt: '' },
});

function callers(change: Partial<SandboxSpec>, projects: Project[] = []) {
  const spec: SandboxSpec = { ...sampleSpec, user: 'ann', project: '/p/shop', mode: 'overlay', ...change };
  const known = new Map<string, Sandbox>([['1', { id: '1', name: 'box', createdAt: '', status: initialStatus, spec }]]);
  const parts = { find: (id: string) => known.get(id) ?? null, projectsOf: () => projects };
  return { known, authentication: new SandboxCallers(parts) };
}
const named = (id: string) => ({ authorization: undefined, url: '/mcp', caller: [JSON.stringify({ id })] });

test.each([
  ['its own project and no other one', {}, [project('shop', '/p/shop'), project('bank', '/p/bank')], ['shop']],
  ['no project in bind mode from a sandbox with a working copy', {}, [project('a', '/p/shop', 'bind')], []],
  ['a project in bind mode from a sandbox in bind mode', { mode: 'bind' }, [project('a', '/p/shop', 'bind')], ['a']],
  ['no project whose spoke is elsewhere', { project: '' }, [project('a', '', 'elsewhere')], []],
  ['no project if it was created without one', { project: null }, [project('shop', '/p/shop')], []],
] as const)('a sandbox reaches %s', async (_, change, projects, ids) => {
  const { authentication } = callers({ ...granted, ...change }, [...projects]);
  const { user, caller } = await authentication.authenticate(named('1'));
  expect([user, caller.projects]).toEqual(['ann', ids]);
  expect(caller).toMatchObject({ sandbox: 'box', groups: ['files', 'code', 'run'] });
});

test('a project that is added later can be reached in an open session', async () => {
  const projects: Project[] = [];
  const { authentication } = callers(granted, projects);
  const { caller } = await authentication.authenticate(named('1'));
  projects.push(project('shop', '/p/shop'));
  expect(caller.projects).toEqual(['shop']);
});

test.each([
  ['without the grant', {}, named('1')],
  ['with a service "hub" that the owner declared', { services: [{ name: 'hub', port: 17_010 }] }, named('1')],
  ['that does not exist', granted, named('2')],
  ['whose id was not sent by a proxy', granted, { authorization: 'Bearer x', url: '/mcp' }],
  ['whose id was sent twice', granted, { ...named('1'), caller: [...named('1').caller, ...named('1').caller] }],
])('a sandbox %s is refused', async (_, change, request) => {
  await expect(callers(change).authentication.authenticate(request)).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('a session ends with its sandbox', async () => {
  const { authentication, known } = callers(granted);
  const identity = await authentication.authenticate(named('1'));
  identity.check();
  known.clear();
  expect(() => identity.check()).toThrow('has no hub');
});
