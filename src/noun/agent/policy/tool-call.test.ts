import { describe, expect, test } from 'vitest';
import { table } from '../../cli.ts';
import { decideCall, hookAnswer, readToolCall } from './tool-call.ts';

const cwd = '/work/project';
const groups = table.groups.map(({ name }) => name);

describe('a tool call', () => {
  function decided(value: unknown) {
    const call = readToolCall(typeof value === 'string' ? value : JSON.stringify(value));
    return decideCall(call, [], { cwd: call.cwd ?? cwd, programs: [], groups }).decision;
  }
  const bash = (tool_input: object, more: object = {}) => ({ tool_name: 'Bash', tool_input, cwd, ...more });

  test.each<[string, unknown]>([
    ['allow', bash({ command: 'carrel ls', description: 'd', timeout: 5, run_in_background: true })],
    [
      'allow',
      bash({ command: 'carrel ls' }, { session_id: 'x', hook_event_name: 'PreToolUse', permission_mode: 'default' }),
    ],
    ['allow', bash({ command: ['carrel', 'ls'] })],
    ['ask', bash({ command: ['bash', '-lc', 'carrel ls'] })],
    ['ask', bash({ command: 'carrel ls; ls' })],
    ['ask', bash({ command: 'carrel ls', dangerouslyDisableSandbox: true })],
    ['ask', bash({ command: 'carrel ls', env: {} })],
    ['ask', bash({})],
    ['ask', bash({ command: 1 })],
    ['ask', { tool_name: 'Write', tool_input: { file_path: '/etc/x' } }],
    ['ask', { tool_name: 'Bash' }],
    ['ask', { ...bash({ command: 'carrel ls' }), cwd: 'relative' }],
    ['ask', '{'],
    ['ask', ''],
    ['ask', 'null'],
  ])('is decided: %s %j', (decision, value) => {
    expect(decided(value)).toBe(decision);
  });

  test('is answered in the format of a PreToolUse hook', () => {
    expect(hookAnswer({ decision: 'ask', rule: 'shell', reason: 'why' })).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'ask',
        permissionDecisionReason: 'carrel policy (shell): why',
      },
    });
  });
});
