import { describe, expect, test } from 'vitest';
import { ClaudeStream } from './claude-stream.ts';

describe('the output of claude', () => {
  function read(exitCode: number, ...lines: unknown[]) {
    const stream = new ClaudeStream();
    const output = lines.flatMap((line) => stream.take(typeof line === 'string' ? line : JSON.stringify(line)));
    return { output, ...stream.end(exitCode) };
  }

  const result = { type: 'result', subtype: 'success', is_error: false, result: 'All done.' };

  test('is reported as text and uses of tools', () => {
    const content = [
      { type: 'text', text: 'I look.' },
      { type: 'tool_use', name: 'Bash', input: { command: 'ls\nrm x' } },
      { type: 'tool_use', name: 'Write', input: { file_path: 'a.ts', content: 'x' } },
      { type: 'thinking', thinking: 'hm' },
    ];
    expect(read(0, { type: 'system' }, { type: 'assistant', message: { content } }, result)).toEqual({
      output: ['I look.', '[Bash] ls', '[Write] a.ts'],
      status: 'completed',
      summary: 'All done.',
      code: null,
    });
  });

  test.each([
    ['reports an error', 0, { ...result, is_error: true, result: 'Invalid API key' }, 'Invalid API key'],
    ['used up its turns', 0, { type: 'result', subtype: 'error_max_turns', is_error: false }, 'error_max_turns'],
    ['exits with a code other than 0', 1, result, 'All done.'],
  ])('means that the run failed if claude %s', (_, exitCode, last, summary) => {
    expect(read(exitCode, last)).toMatchObject({ status: 'failed', summary, code: null });
  });

  test('means that claude crashed if it has no result', () => {
    expect(
      read(137, { type: 'system' }, 'Killed', '[]', 'null', '{"type":"assistant","message":{"content":7}}'),
    ).toEqual({
      output: [],
      status: 'failed',
      summary: 'claude ended with 137 and without a result: Killed\nnull',
      code: 'AGENT_CRASH',
    });
  });
});
