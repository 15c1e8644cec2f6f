import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type ServedApp, serve } from '../../../test/fixtures/served.ts';
import { openapi } from './openapi.ts';
import { declare } from './route.ts';
import { createApp } from './server.ts';

let { app, served, policy, dispose }: ServedApp = {} as ServedApp;
beforeEach(() => {
  ({ app, served, policy, dispose } = serve());
});
afterEach(() => dispose());

test('a path may have several names, and an answer may have status 202', async () => {
  const { route } = declare<object>();
  const nested = route('POST /v1/shelves/{name}/books/{id}/pages/{page}', {
    ...{ id: 'turnPage', summary: 'Turn a page', answer: z.object({ names: z.array(z.string()) }), status: 202 },
    act: ({ name, path }) => ({ verb: 'page.turn', names: [name, path.id, path.page] }),
    handle: async ({ name, path }) => ({ names: [name, path.id, path.page] }),
  });
  const serving = createApp({ ...served, routes: [nested] }, policy);
  const answer = await serving.request('/v1/shelves/a%2Fb/books/2/pages/3', { method: 'POST' });
  expect([answer.status, await answer.json()]).toEqual([202, { names: ['a/b', '2', '3'] }]);
  const document = JSON.stringify(openapi('1', [nested]));
  expect(document).toMatch(/"name":"name".*"name":"id".*"name":"page".*"202":/);
  const log = await (await app.request('/v1/audit')).text();
  expect(log).toContain('"targets":[{"name":"a/b"},{"name":"2"},{"name":"3"}]');
});
