import { afterEach, expect, it } from 'vitest';
import { serve } from '../../../test/fixtures/served.ts';
import { Fault } from '../../model/fault.ts';

const { store, engine, reconciler, call, dispose } = serve();
afterEach(() => dispose());

it('a failed start is refused with the reason, also when the loop looks at the sandbox at the same time', async () => {
  await call('POST', '/v1/sandboxes', { name: 'box' });
  await call('POST', '/v1/sandboxes/box/stop', {});
  engine.faults.failNext('start', new Fault('unsupported', 'no runtime'));
  store.subscribe(({ type, subject }) => {
    if (type === 'sandbox.start_requested') void reconciler.settle(subject).catch(() => {});
  });
  expect(await call('POST', '/v1/sandboxes/box/start')).toMatchObject({ status: 501, body: { message: 'no runtime' } });
});
