import { expect, test } from 'vitest';
import { requireAgentApi } from './agent-api-listener.ts';

const program = '/opt/carrel/bin/lib/carrel-agent-api.js';
const ofOlderBuild = '/opt/carrel/bin/lib/agent/session/main.js';
const check = (...args: readonly string[]) => requireAgentApi('box', { pid: 7, arguments: args });

test('the agent API of this and of older builds is accepted, and so is a port at which no program is seen', () => {
  expect(() => check('/usr/bin/node', program, 'serve')).not.toThrow();
  expect(() => check('/usr/bin/node', ofOlderBuild, 'serve')).not.toThrow();
  expect(() => requireAgentApi('box', null)).not.toThrow();
});

test.each([
  ['another program', ['python3', '-m', 'http.server', '3002']],
  ['a program whose first argument is missing', ['node']],
  ['a program outside of the folder of the tools', ['node', `/workspace${program}`, 'serve']],
  ['a folder whose name begins as that of the tools', ['node', '/opt/carrel/bin-2/lib/carrel-agent-api.js', 'serve']],
  ['another program of the tools', ['node', '/opt/carrel/bin/lib/carrel-room.js', 'serve']],
  ['another command of the agent API', ['node', program, 'start']],
])('%s is refused', (_, args) => {
  expect(() => check(...args)).toThrow(expect.objectContaining({ code: 'unavailable' }));
});

test('the refusal names the program, shortened and without control characters', () => {
  expect(() => check('evil\u001b[2J', 'x'.repeat(1000))).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/^port 3002 of box is held by another program: "[ -~]{1,90}…"$/),
    }),
  );
});
