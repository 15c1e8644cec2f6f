import { expect, test } from 'vitest';
import { requireProgram } from './program.ts';

test('a missing program is reported as AGENT_NOT_INSTALLED, with a code that readers of the protocol know', () => {
  const missing = { code: 'AGENT_CRASH', message: expect.stringMatching(/^AGENT_NOT_INSTALLED: .*no-such-agent/) };
  expect(() => requireProgram(['no-such-agent'], { PATH: '/usr/bin:/bin' })).toThrow(expect.objectContaining(missing));
  expect(() => requireProgram(['/nowhere/no-such-agent'], {})).toThrow(expect.objectContaining(missing));
  expect(() => requireProgram(['sh'], { PATH: '/nowhere:/bin' })).not.toThrow();
  expect(() => requireProgram(['/bin/sh'], {})).not.toThrow();
  // A path in the checkout, which is made later.
  expect(() => requireProgram(['./tools/agent'], {})).not.toThrow();
});
