import { expect, test } from 'vitest';
import { foreignState, observeForeign } from './foreign.ts';

const state = (Status: string, more: object = {}) =>
  foreignState({ State: { Status, ExitCode: 0, OOMKilled: false, Paused: false, ...more } } as never);

test.each([
  [null, { kind: 'absent' }],
  [state('running'), { kind: 'running' }],
  [state('restarting'), { kind: 'running' }],
  [state('paused', { Paused: true }), { kind: 'paused' }],
  [state('removing'), { kind: 'paused' }],
  [state('exited'), { kind: 'exited', exitCode: 0, signal: null, outOfMemory: false }],
  [state('exited', { ExitCode: 3 }), { kind: 'exited', exitCode: 3, signal: null, outOfMemory: false }],
  [
    state('dead', { ExitCode: 137, OOMKilled: true }),
    { kind: 'exited', exitCode: 137, signal: 'SIGKILL', outOfMemory: true },
  ],
  [state('created'), null],
])('the state of a container that Carrel did not make is observed as %j', (found, wanted) => {
  expect(found === null && wanted !== null ? foreignState(null) : found).toEqual(wanted);
});

test('without a Docker Engine the container is absent; without an answer its state is unknown', async () => {
  expect(await observeForeign('0123456789ab', '/nowhere/docker.sock')).toEqual({ kind: 'absent' });
  expect(await observeForeign('0123456789ab', '/dev/null')).toBeNull();
});
