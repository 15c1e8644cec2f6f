import { expect, test } from 'vitest';
import { socketFault } from './namespace-sockets.ts';

test.each([
  ...[['ECONNREFUSED', 'unavailable'] as const, ['ECONNRESET', 'unavailable'] as const],
  ...[['ETIMEDOUT', 'unavailable'] as const, ['ESRCH', 'not_ready'] as const],
  ...[['EADDRINUSE', 'conflict'] as const, ['EPERM', 'unsupported'] as const, ['EMFILE', 'internal'] as const],
])('a socket error %s is the fault %s, so that callers start an ended program and try again', (code, expected) => {
  expect(socketFault({ code, message: `connect: ${code}` }, 3002)).toMatchObject({ code: expected });
});
