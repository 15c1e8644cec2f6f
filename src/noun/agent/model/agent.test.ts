import { describe, expect, test } from 'vitest';
import { checkOutcome, type Outcome } from '../../swarm/model/outcome.ts';
import { adapterCommand, agentSpec, checkAdapterSettings } from './agent.ts';
import { agentPresets } from './table.ts';

describe('an agent', () => {
  test.each(Object.keys(agentPresets))('the preset %s is accepted unchanged', (name) => {
    expect(agentSpec(agentPresets[name], [])).toEqual(agentPresets[name]);
  });

  test.each<[string, unknown]>([
    ['kind: must be "claude" or "acp" or "command"', { kind: 'magic', command: ['x'] }],
    ['command: must name a program', { kind: 'claude', command: [] }],
    ['command: must name a program', { kind: 'claude', command: [''] }],
    ['command[1]: must be text without a zero byte', { kind: 'acp', command: ['x', '\0'] }],
    ['input: is not a known field', { kind: 'acp', command: ['x'], input: 'json' }],
    ['permissions.shell: must be a kind of tool', { kind: 'acp', command: ['x'], permissions: { shell: 'allow' } }],
    ['permissions.read: must be "allow" or "reject"', { kind: 'acp', command: ['x'], permissions: { read: 'ask' } }],
    [
      'key.secret: must be the name of a secret',
      { kind: 'claude', command: ['x'], key: { variable: 'A', secret: '../a' } },
    ],
    [
      'key.value: is not a known field',
      { kind: 'claude', command: ['x'], key: { variable: 'A', secret: 'a', value: 1 } },
    ],
  ])('is refused: %s', (reason, value) => {
    expect(() => agentSpec(value, [])).toThrow(reason);
  });

  test('is passed to the adapter as one argument', () => {
    const settings = { agent: agentPresets.claude!, author: { name: 'Ada', email: 'a@b' }, stallSeconds: 60 };
    const [, argument] = adapterCommand(settings);
    expect(checkAdapterSettings(JSON.parse(argument!))).toEqual(settings);
    expect(() => adapterCommand({ ...settings, author: { name: 'A\nB', email: 'a@b' } })).toThrow('author.name');
  });
});

describe('an outcome', () => {
  const outcome: Outcome = {
    version: '1.0',
    swarmId: '0e3b7f2c-5d1a-4c8e-9f00-1234567890ab',
    taskFilePath: 'a.json',
    branchName: 'b',
    base: null,
    tip: 'a'.repeat(40),
    landing: { storyId: 'US-001', commit: 'b'.repeat(64) },
    stories: { 'US-001': { status: 'failed', output: '', commit: null } },
    completion: { status: 'completed', prUrl: null, errors: [] },
  };

  test('is the same after JSON and back', () => {
    expect(checkOutcome(JSON.parse(JSON.stringify(outcome)))).toEqual(outcome);
  });

  test.each<[string, object]>([
    ['tip: must be the id of a commit', { tip: '--all' }],
    ['stories["US-1"]: must be the id of a story', { stories: { 'US-1': {} } }],
    ['completion.status: must be', { completion: { status: 'done', prUrl: null, errors: [] } }],
    ['completion.prUrl: must be', { completion: { status: 'completed', prUrl: 'javascript:1', errors: [] } }],
    ['extra: is not a known field', { extra: 1 }],
  ])('is refused: %s', (reason, change) => {
    expect(() => checkOutcome({ ...outcome, ...change })).toThrow(reason);
  });
});
