import { describe, expect, it } from 'vitest';
import { sampleSpec } from '../../test/fixtures/sandbox.ts';
import { initialStatus, type Sandbox, type SandboxState, withStatus } from '../noun/sandbox/model.ts';
import { asFault, Fault, faultTable } from './fault.ts';
import { checkSandboxName, printable } from './name.ts';
import { formatSize, parseSize } from './size.ts';

describe('a Fault', () => {
  it('is the same after JSON and back, without its cause', () => {
    const fault = new Fault('conflict', 'taken', { hint: 'choose', data: { name: 'a' }, cause: new Error('secret') });
    const body = JSON.parse(JSON.stringify(fault));
    expect(body).toEqual({ code: 'conflict', message: 'taken', hint: 'choose', data: { name: 'a' } });
    expect(Fault.from(body)).toMatchObject(body);
  });

  it('has the documented exit codes', () => {
    const exits = Object.fromEntries(Object.entries(faultTable).map(([code, { exit }]) => [code, exit]));
    expect(exits).toMatchObject({
      invalid: 2,
      unsupported: 3,
      denied: 4,
      not_found: 5,
      conflict: 6,
      exhausted: 7,
      internal: 70,
      unavailable: 75,
      cancelled: 130,
    });
  });

  it('is made from any thrown value', () => {
    expect(asFault('text')).toMatchObject({ code: 'internal', message: 'text' });
  });
});

describe('a name', () => {
  it.each(['a', '0', 'web-1', 'a_b.c', 'x'.repeat(63)])('may be %s', (name) =>
    expect(checkSandboxName(name)).toBe(name),
  );
  it.each(['', 'A', '-a', '.', 'a/b', 'a b', 'a\n', '\u001b[31m', 'x'.repeat(64), 'ä'])('may not be %j', (name) => {
    expect(() => checkSandboxName(name)).toThrow('is not a sandbox name');
  });

  it('is printed without control characters', () => {
    expect(printable('a\u001b[31m\n\u202e\u009b')).toBe('"a\\u001b[31m\\n\\u202e\\u009b"');
    expect(printable('x'.repeat(500)).length).toBeLessThan(100);
  });
});

describe('a size', () => {
  it.each([
    ['1', 1],
    ['512m', 512 * 1024 ** 2],
    ['1.5G', 1.5 * 1024 ** 3],
    ['8GiB', 8 * 1024 ** 3],
    ['64kb', 65_536],
  ])('%s is %i bytes', (text, bytes) => expect(parseSize(text, 'x')).toBe(bytes));
  it.each(['', 'm', '1x', '-1', '1e9', '0x10', '1 2'])('is refused: %j', (text) =>
    expect(() => parseSize(text, '--memory')).toThrow('--memory'),
  );
  it.each([
    [0, '0B'],
    [1023, '1023B'],
    [1536, '1.5K'],
    [20 * 1024 ** 2, '20M'],
    [4 * 1024 ** 3, '4.0G'],
    [1024 ** 2 - 1, '1.0M'],
    [9.96 * 1024, '10K'],
    [2 * 1024 ** 4, '2.0T'],
    [1024 ** 5, '1.0P'],
    [Number.MAX_SAFE_INTEGER, '8.0P'],
  ])('%i is shown as %s', (bytes, text) => expect(formatSize(bytes)).toBe(text));
});

describe('a status', () => {
  const states: SandboxState[] = ['pending', 'running', 'completed', 'failed', 'stopped'];
  const legal = new Set([
    'pending>pending',
    'pending>running',
    'pending>completed',
    'pending>failed',
    'pending>stopped',
    'running>running',
    'running>completed',
    'running>failed',
    'running>stopped',
    'completed>completed',
    'failed>failed',
    'stopped>stopped',
  ]);
  const sandbox = (state: SandboxState): Sandbox => ({
    id: 'a',
    name: 'a',
    createdAt: '',
    spec: sampleSpec,
    status: { ...initialStatus, state },
  });

  it.each(states.flatMap((from) => states.map((to) => [from, to] as const)))(
    'from %s to %s only as documented',
    (from, to) => {
      const change = () => withStatus(sandbox(from), { ...initialStatus, state: to });
      if (legal.has(`${from}>${to}`)) expect(change().status.state).toBe(to);
      else expect(change).toThrow('cannot become');
    },
  );

  it('leaves an end state only by a new attempt', () => {
    const again = { ...initialStatus, attempt: 2 };
    expect(withStatus(sandbox('failed'), again).status.state).toBe('pending');
    expect(() => withStatus(sandbox('running'), again)).toThrow('cannot become');
  });
});
