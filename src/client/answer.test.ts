import { expect, test } from 'vitest';
import { printAnswer } from './answer.ts';
import type { Context } from './cli.ts';
import { Output, type Sink } from './output/output.ts';

/** What the command prints, on a terminal unless `json`. */
async function printed(list: readonly string[], json: boolean) {
  const text = { stdout: '', stderr: '' };
  const sink = (name: 'stdout' | 'stderr'): Sink => ({
    isTTY: !json,
    write: (data) => {
      text[name] += String(data);
    },
  });
  const context = { json, out: new Output(json, sink('stdout'), sink('stderr'), {}) } as Context;
  const empty = 'no names; add one';
  const answer = await printAnswer(context, Promise.resolve(list), (names) => names.map((one) => `- ${one}`), {
    empty,
  });
  expect(answer).toBe(list);
  return text;
}

test('prints lines, a note for an empty list, and with --json only the document', async () => {
  expect(await printed(['a', 'b'], false)).toEqual({ stdout: '- a\n- b\n', stderr: '' });
  expect(await printed([], false)).toEqual({ stdout: '', stderr: 'no names; add one\n' });
  expect(await printed(['a'], true)).toEqual({ stdout: '[\n  "a"\n]\n', stderr: '' });
  expect(await printed([], true)).toEqual({ stdout: '[]\n', stderr: '' });
});
