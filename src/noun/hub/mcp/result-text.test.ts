import { expect, it } from 'vitest';
import { messageText, resultOf } from './result-text.ts';

const structured = { path: 'a "b"', lines: [1, 2], nested: { none: null } };

it('a message with a result is the JSON of the message', () => {
  const message = { jsonrpc: '2.0', id: 7, result: { ...resultOf(structured), _meta: { a: 1 } } } as const;
  expect(JSON.parse(messageText(message))).toEqual(message);
  expect(message.result.content).toEqual([{ type: 'text', text: JSON.stringify(structured) }]);
});

it('fields after the result are kept', () => {
  const message = { jsonrpc: '2.0', result: resultOf(structured), id: 7 } as const;
  expect(JSON.parse(messageText(message))).toEqual(message);
});

it('a changed copy of the structured content is written as it is', () => {
  const result = { ...resultOf(structured), structuredContent: { other: true } };
  expect(JSON.parse(messageText({ jsonrpc: '2.0', id: 7, result }))).toMatchObject({ result });
});

it.each([
  { jsonrpc: '2.0', id: 1, result: {} },
  { jsonrpc: '2.0', id: 1, error: { code: -32600, message: 'no' } },
  { jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1, progressToken: 2 } },
] as const)('a message without structured content is plain JSON', (message) => {
  expect(messageText(message)).toBe(JSON.stringify(message));
});
