import { afterEach, beforeEach, expect, it } from 'vitest';
import { type ServedApp, serve } from '../../../../test/fixtures/served.ts';
import { Fault } from '../../../model/fault.ts';

let app: ServedApp;
beforeEach(() => {
  app = serve();
});
afterEach(() => app.dispose());

/** Settles the sandbox as the loop does when an engine reports a change. */
function settleAt(type: string): void {
  const { store, reconciler } = app;
  store.subscribe((event) => {
    if (event.type === type) void reconciler.settle(event.subject).catch(() => {});
  });
}

it('a failed start is refused with the reason, also when the loop looks at the sandbox at the same time', async () => {
  await app.call('POST', '/v1/sandboxes', { name: 'box' });
  await app.call('POST', '/v1/sandboxes/box/stop', {});
  app.engine.faults.failNext('start', new Fault('unsupported', 'no runtime'));
  settleAt('sandbox.start_requested');
  expect(await app.call('POST', '/v1/sandboxes/box/start')).toMatchObject({
    status: 501,
    body: { message: 'no runtime' },
  });
});

it('a failed create is refused with the reason, also when the loop looks at the sandbox at the same time', async () => {
  app.engine.faults.failNext('start', new Fault('unsupported', 'no runtime'));
  settleAt('sandbox.created');
  const answer = await app.call('POST', '/v1/sandboxes', { name: 'new' });
  expect(answer).toMatchObject({ status: 501, body: { message: 'no runtime' } });
  expect(app.store.list('sandbox')).toEqual([]);
});

it.each(['conflict', 'not_found'] as const)('a start that fails with %s is refused with the reason', async (code) => {
  await app.call('POST', '/v1/sandboxes', { name: 'box' });
  await app.call('POST', '/v1/sandboxes/box/stop', {});
  app.engine.faults.failNext('start', new Fault(code, 'no project'));
  expect(await app.call('POST', '/v1/sandboxes/box/start')).toMatchObject({ body: { code, message: 'no project' } });
});
