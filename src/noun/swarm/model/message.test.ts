import { describe, expect, test } from 'vitest';
import { clip, ShapeError } from '../../../model/shape.ts';
import { checkMessage, type SwarmMessage } from './message.ts';
import { encodeMessage, MessageReader, maxLineBytes, type Read } from './message-line.ts';

const outer = {
  timestamp: '2026-01-31T12:00:00.000Z',
  swarmId: '0e3b7f2c-5d1a-4c8e-9f00-1234567890ab',
  containerId: '0123456789abcdef',
};
const request = { taskFilePath: '.carrel/tasks/2026-01-31-login-tasks.json', branchName: 'feat/login' };

function message(type: string, payload: unknown, change: object = {}): SwarmMessage {
  return { ...outer, type, payload, ...change } as SwarmMessage;
}

const progress = message('progress-update', { storyId: 'US-001', status: 'in_progress', output: 'würg 🎈' });
const completion = message('completion', { status: 'completed', prUrl: null, errors: [] });

describe('a message is accepted', () => {
  test.each<[string, SwarmMessage]>([
    ['request', message('task-request', request)],
    ['request with everything', message('task-request', { ...request, repoUrl: 'git@h:r.git', envVars: { CI: '1' } })],
    ['progress', progress],
    ['completion', completion],
    ['completion with a pull request', message('completion', { ...completion.payload, prUrl: 'https://h/p/1' })],
    ['error', message('error', { code: 'AGENT_CRASH', message: 'exit 1' })],
    ['2000 characters beyond the basic plane', message('error', { code: 'AGENT_CRASH', message: '🎈'.repeat(2000) })],
    ['a time with an offset', message('completion', completion.payload, { timestamp: '2026-01-31T12:00:00+01:00' })],
  ])('%s', (_, value) => {
    expect(checkMessage(JSON.parse(JSON.stringify(value)))).toEqual(value);
  });
});

describe('a message is refused', () => {
  test.each<[string, unknown]>([
    ['must be an object, not null', null],
    ['must be an object, not a list', []],
    ['type: must be "task-request" or', message('hello', {})],
    ['type: is missing', outer],
    ['extra: is not a known field', message('completion', completion.payload, { extra: 1 })],
    ['__proto__: is not a known field', JSON.parse(`{"__proto__":1,${JSON.stringify(completion).slice(1)}`)],
    ['timestamp: must be a time', message('completion', completion.payload, { timestamp: 'yesterday' })],
    ['timestamp: is not a time', message('completion', completion.payload, { timestamp: '2026-13-31T12:00:00Z' })],
    [
      'swarmId: must be a UUID',
      message('completion', completion.payload, { swarmId: outer.swarmId.replace('-4', '-1') }),
    ],
    ['containerId: must be 12 to 64', message('completion', completion.payload, { containerId: '0123' })],
    ['payload.taskFilePath: must be the path', message('task-request', { ...request, taskFilePath: 'a.txt' })],
    ['payload.taskFilePath: must be the path', message('task-request', { ...request, taskFilePath: 'a\n.json' })],
    ['payload.branchName: must be a branch', message('task-request', { ...request, branchName: '-f' })],
    ['payload.branchName: must be a branch', message('task-request', { ...request, branchName: 'a//b' })],
    ['payload.branchName: must be a branch', message('task-request', { ...request, branchName: 'a/' })],
    ['payload.branchName: must be a branch', message('task-request', { ...request, branchName: 'a..b' })],
    ['payload.branchName: must be a branch', message('task-request', { ...request, branchName: 'a\n' })],
    ['payload.repoUrl: must be an address', message('task-request', { ...request, repoUrl: 'file:///etc' })],
    ['payload.envVars.path: must be the name', message('task-request', { ...request, envVars: { path: '' } })],
    ['payload.envVars.A: must be text, not a number', message('task-request', { ...request, envVars: { A: 1 } })],
    ['payload.storyId: must be the id', message('progress-update', { ...progress.payload, storyId: 'US-1' })],
    ['payload.status: must be', message('progress-update', { ...progress.payload, status: 'done' })],
    [
      'payload.output: must have at most 2000',
      message('progress-update', { ...progress.payload, output: 'x'.repeat(2001) }),
    ],
    [
      'payload.errors: must have at most 50',
      message('completion', { ...completion.payload, errors: Array(51).fill('') }),
    ],
    [
      'payload.errors[1]: must have at most 500',
      message('completion', { ...completion.payload, errors: ['', 'x'.repeat(501)] }),
    ],
    ['payload.prUrl: must be an address', message('completion', { ...completion.payload, prUrl: 'javascript:1' })],
    ['payload.prUrl: is missing', message('completion', { status: 'completed', errors: [] })],
    ['payload.code: must be', message('error', { code: 'OOPS', message: '' })],
    ['payload["a b"]: is not a known field', message('error', { code: 'AGENT_CRASH', message: '', 'a b': 1 })],
  ])('%s', (reason, value) => {
    expect(() => checkMessage(value)).toThrow(ShapeError);
    expect(() => checkMessage(value)).toThrow(reason);
  });
});

function readAll(chunks: Iterable<Uint8Array>): Read[] {
  const reader = new MessageReader();
  const found = [...chunks].flatMap((chunk) => [...reader.push(chunk)]);
  return [...found, ...reader.end()];
}

function* cut(bytes: Uint8Array, size: number): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

function kinds(reads: readonly Read[]): string[] {
  return reads.map((read) => ('flaw' in read ? read.flaw.kind : read.message.type));
}

describe('lines', () => {
  test.each([1, 2, 3, 7, 64, 1_000_000])('are read from chunks of %i bytes', (size) => {
    const sent = [progress, completion, progress];
    expect(readAll(cut(Buffer.concat(sent.map(encodeMessage)), size))).toEqual(sent.map((one) => ({ message: one })));
  });

  test('of 64 KiB are read, and those of one byte more are not', () => {
    const line = encodeMessage(completion).subarray(0, -1);
    const padded = (bytes: number) => Buffer.concat([line, Buffer.alloc(bytes - line.length, ' '), Buffer.from('\n')]);
    expect(kinds(readAll([padded(maxLineBytes)]))).toEqual(['completion']);
    expect(kinds(readAll([padded(maxLineBytes + 1), encodeMessage(progress)]))).toEqual([
      'too_long',
      'progress-update',
    ]);
  });

  test('that never end are counted, not buffered', () => {
    const flood = Buffer.alloc(1024 ** 2, '{');
    const reader = new MessageReader();
    for (let round = 0; round < 64; round++) expect([...reader.push(flood)]).toEqual([]);
    const [read] = [...reader.push(Buffer.from('\n'))];
    expect(read).toMatchObject({ flaw: { kind: 'too_long', reason: expect.stringContaining(String(64 * 1024 ** 2)) } });
    expect(kinds([...reader.push(encodeMessage(progress))])).toEqual(['progress-update']);
  });

  test('that are not messages do not affect the next', () => {
    const bad = ['hello', '{"type":', '[]', '', '  \r', '"\ud800"', '{"a":1}'].map((text) => `${text}\n`).join('');
    const reads = readAll([Buffer.from(bad), Buffer.from([0xff, 0xfe, 0x0a]), encodeMessage(progress)]);
    expect(kinds(reads)).toEqual([
      ...['not_json', 'not_json', 'not_a_message', 'not_a_message', 'not_a_message'],
      ...['not_utf8', 'progress-update'],
    ]);
  });

  test('with the deepest nesting that fits a line are refused', () => {
    const deep = `${'['.repeat(32_000)}${']'.repeat(32_000)}\n`;
    expect(['not_a_message', 'not_json']).toContain(kinds(readAll([Buffer.from(deep)]))[0]);
  });

  test('without a newline at the end are complete or reported as cut off', () => {
    const line = encodeMessage(completion);
    expect(kinds(readAll([line.subarray(0, -1)]))).toEqual(['completion']);
    expect(kinds(readAll([line.subarray(0, -2)]))).toEqual(['cut_off']);
  });

  test('of a completion leave out errors that do not fit, and say how many', () => {
    const errors = Array<string>(50).fill('\u0001'.repeat(500));
    const line = encodeMessage(message('completion', { status: 'failed', prUrl: null, errors }));
    expect(line.length).toBeLessThanOrEqual(maxLineBytes + 1);
    const kept = readAll([line]).flatMap((read) =>
      'message' in read && read.message.type === 'completion' ? read.message.payload.errors : [],
    );
    expect(kept.at(-1)).toBe(`and ${50 - (kept.length - 1)} more`);
    expect(kept.length).toBeGreaterThan(15);
  });

  test('are never longer than the limit', () => {
    const envVars = { A: 'x'.repeat(32_768), B: 'x'.repeat(32_768) };
    expect(() => encodeMessage(message('task-request', { ...request, envVars }))).toThrow('longer than 65536 bytes');
  });
});

test('text is clipped at whole characters', () => {
  expect(clip('abc', 3)).toBe('abc');
  expect(clip('abcd', 3)).toBe('ab…');
  expect(clip('🎈🎈🎈', 3)).toBe('🎈🎈🎈');
  expect(clip('🎈🎈🎈🎈', 3)).toBe('🎈🎈…');
});
