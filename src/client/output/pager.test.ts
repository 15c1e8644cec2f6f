import { expect, test } from 'vitest';
import { pagerArgv } from './pager.ts';

test.each([
  [{ TERM: 'xterm' }, ['less', '-FRX']],
  [{ TERM: 'xterm', PAGER: 'more' }, ['more']],
  [{ TERM: 'xterm', PAGER: '  less   -R -i ' }, ['less', '-R', '-i']],
  [{ TERM: 'xterm', PAGER: 'sh -c "evil; $(evil)"' }, ['sh', '-c', '"evil;', '$(evil)"']],
  [{ TERM: 'dumb', PAGER: 'more' }, ['more']],
])('the pager is chosen by %j', (env, argv) => {
  expect(pagerArgv(env)).toEqual(argv);
});

test.each([
  { TERM: 'xterm', PAGER: '' },
  { TERM: 'xterm', PAGER: 'cat' },
  { TERM: 'xterm', PAGER: ' ' },
  { TERM: 'dumb' },
  {},
])('no pager is used with %j', (env) => {
  expect(pagerArgv(env)).toBeNull();
});
