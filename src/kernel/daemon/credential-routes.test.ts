import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ServedApp, serve } from '../../../test/fixtures/served.ts';

let { call, dispose }: ServedApp = {} as ServedApp;
beforeEach(() => {
  ({ call, dispose } = serve());
});
afterEach(() => dispose());

const path = '/v1/credentials';
const claude = { name: 'claude', preset: 'anthropic', secret: 'KEY' };

it('credentials are added, listed, granted and removed', async () => {
  const view = { ...claude, services: [expect.objectContaining({ host: 'api.anthropic.com', header: 'x-api-key' })] };
  expect(await call('POST', path, claude)).toEqual({ status: 200, body: expect.objectContaining(view) });
  expect(await call('GET', path)).toMatchObject({ status: 200, body: [view] });
  const given = await call('POST', '/v1/sandboxes', { name: 'box', credentials: ['claude'] });
  expect(given).toMatchObject({ status: 200, body: { credentials: ['claude'] } });
  expect(await call('DELETE', `${path}/claude`)).toMatchObject({ status: 409, body: { code: 'conflict' } });
  expect(await call('DELETE', '/v1/sandboxes/box?force=true')).toMatchObject({ status: 200 });
  expect(await call('DELETE', `${path}/claude`)).toMatchObject({ status: 200, body: { name: 'claude' } });
  expect(await call('GET', path)).toEqual({ status: 200, body: [] });
});

it.each([
  [{ ...claude, value: 'x' }, 'value'],
  [{ ...claude, preset: 'other' }, 'preset'],
  [{ ...claude, name: '' }, 'name'],
  [{ ...claude, secret: '../x' }, 'secret'],
  [{ ...claude, format: 'x'.repeat(300) }, 'format'],
])('credentials are refused with the path of the wrong value: %j', async (body, field) => {
  const refusal = await call('POST', path, body);
  expect(refusal).toMatchObject({ status: 400, body: { code: 'invalid', message: expect.stringContaining(field) } });
});

it('credentials that do not exist cannot be granted', async () => {
  const { status } = await call('POST', '/v1/sandboxes', { credentials: ['missing'] });
  expect(status).toBe(404);
});
