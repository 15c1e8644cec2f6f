import { describe, expect, it } from 'vitest';
import { locations } from './answer.ts';
import { parseMessage, WrittenLocations } from './location-list.ts';

const range = (line: number) => ({ start: { line, character: 2 }, end: { line, character: 7 } });
const at = (uri: string, line: number) => ({ uri, range: range(line) });
const many = Array.from({ length: 300 }, (_, line) => at(`file:///workspace/${line % 3}.ts`, line));

const messageOf = (result: unknown, more: object = {}) => JSON.stringify({ jsonrpc: '2.0', id: 7, result, ...more });
const resultOf = (text: string) => (parseMessage(text) as { result: unknown }).result;

describe('a long list of locations', () => {
  it('has the same files and ranges as a list that is parsed as a whole', () => {
    const message = parseMessage(messageOf(many)) as { jsonrpc: string; id: number; result: unknown };
    expect(message).toMatchObject({ jsonrpc: '2.0', id: 7, result: expect.any(WrittenLocations) });
    const [split, parsed] = [locations(message.result, []), locations(many, [])];
    expect([...split.uris()]).toEqual([...parsed.uris()]);
    for (const uri of parsed.uris()) expect(split.rangesIn(uri)).toEqual(parsed.rangesIn(uri));
    expect(split.rangesIn('file:///other')).toEqual([]);
  });

  it.each([
    ['a field besides', { ...many[0], kind: 1 }],
    ['a range with a field besides', { ...many[0], range: { ...range(1), more: 1 } }],
    ['an escape in a URI', at('file:///workspace/"', 1)],
    ['a negative line', at('file:///a', -1)],
    ['a line that is too large', at('file:///a', 1_000_000_000)],
    ['no range', { uri: 'file:///a' }],
    ['another list in it', { uri: 'file:///a', range: [many[0]] }],
    ['a URI that is too long', at('x'.repeat(5001), 1)],
  ])('with %s is parsed as a whole', (_, odd) => {
    for (const list of [
      [odd, ...many],
      [...many, odd],
    ]) {
      const result = resultOf(messageOf(list));
      expect(result).toEqual(list);
    }
  });

  it.each([
    ['a request', JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'x', params: many })],
    ['a response with a field after the result', messageOf(many, { later: [] })],
    ['a response with a text id', JSON.stringify({ jsonrpc: '2.0', id: '7', result: many })],
    ['a list with spaces', JSON.stringify({ jsonrpc: '2.0', id: 7, result: many }, null, 1)],
  ])('in %s is parsed as a whole', (_, text) => {
    expect(parseMessage(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['ends early', (text: string) => text.slice(0, -2)],
    ['has an end in the middle', (text: string) => text.replace('}}},', '}}}]')],
    ['has no separator', (text: string) => text.replace('}}},{', '}}}{')],
    ['has a number that is none', (text: string) => text.replace('"line":5', '"line":05')],
    ['has a control character in a URI', (text: string) => text.replace('workspace', 'work\tspace')],
  ])('that %s is refused', (_, broken) => {
    expect(() => parseMessage(broken(messageOf(many)))).toThrow(SyntaxError);
  });
});
