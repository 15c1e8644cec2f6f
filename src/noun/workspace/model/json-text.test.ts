import { describe, expect, test } from 'vitest';
import { applyEdits, JsonError, lineOf, nearestNode, nodeAt, parseJsonText, setMember } from './json-text.ts';

describe('text is accepted or refused as by JSON.parse', () => {
  test.each([
    '0',
    '-1.5e+3',
    '"a\\u00e9\\n\\"b"',
    'true',
    ' null\n',
    '[]',
    '[ 1 , [ ] , {} ]',
    '{"a":{"b":[1,"x",null]},"":2,"__proto__":{"c":1}}',
    '{ "\\u0061" : 1.0 }',
  ])('accepted: %s', (text) => {
    expect(parseJsonText(text).value).toEqual(JSON.parse(text));
  });

  test.each([
    '',
    ' ',
    '01',
    '1.',
    '.5',
    '+1',
    '--1',
    'tru',
    'truex',
    'NaN',
    "'a'",
    '"a',
    '"a\\',
    '"\\x"',
    '"a\nb"',
    '"\\u12"',
    '[1,]',
    '[1 2]',
    '[',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    '{"a":1',
    '1 2',
    '// a\n1',
    '\u00a01',
  ])('refused: %j', (text) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(() => parseJsonText(text)).toThrow(JsonError);
  });

  test('repeated names and nesting past the limit are refused', () => {
    expect(() => parseJsonText('{"a":1,\n "\\u0061":2}')).toThrow('"a" is there twice');
    expect(() => parseJsonText('['.repeat(5000) + ']'.repeat(5000))).toThrow('nested deeper than 100');
  });

  test('a byte order mark is skipped', () => {
    expect(parseJsonText('\ufeff{"a":1}').value).toEqual({ a: 1 });
  });

  test('a text of megabytes is parsed', () => {
    const long = JSON.stringify({ a: '\\"'.repeat(1024 ** 2) });
    expect(parseJsonText(long).value).toEqual(JSON.parse(long));
  });

  test('random text gives the same result as JSON.parse, except for repeated names', () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    const alphabet = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '1',
      '-',
      '.',
      'e',
      'null',
      ' ',
      '\n',
      '\\',
      'u00',
      '0',
    ];
    for (let round = 0; round < 20_000; round++) {
      const text = Array.from({ length: 1 + random(10) }, () => alphabet[random(alphabet.length)]).join('');
      const parsed = outcome(() => parseJsonText(text).value);
      const expected = outcome(() => JSON.parse(text));
      if (parsed === 'refused' && expected !== 'refused') expect(text).toMatch(/"a".*"a"|""/);
      else expect([text, parsed]).toEqual([text, expected]);
    }
  });
});

function outcome(work: () => unknown): unknown {
  try {
    return work();
  } catch {
    return 'refused';
  }
}

const sample = `{
  "a": 1.0,
  "list": [
    { "x": "y", "n": 1e2 },
    {"x":"z"}
  ],
  "empty": {}
}
`;

test('values have their positions', () => {
  const root = parseJsonText(sample);
  const node = nodeAt(root, ['list', 1, 'x'])!;
  expect(sample.slice(node.start, node.end)).toBe('"z"');
  expect(lineOf(sample, node.start)).toBe(5);
  expect(nodeAt(root, ['list', 2])).toBeNull();
  expect(nodeAt(root, ['a', 'b'])).toBeNull();
  expect(nearestNode(root, ['list', 0, 'missing', 'more'])).toBe(nodeAt(root, ['list', 0]));
});

test('an error has its position', () => {
  const bad = sample.replace('{"x":"z"}', '{"x" "z"}');
  try {
    parseJsonText(bad);
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(JsonError);
    expect(lineOf(bad, (error as JsonError).offset)).toBe(5);
  }
});

function set(text: string, path: (string | number)[], name: string, value: unknown): string {
  return applyEdits(text, [setMember(text, nodeAt(parseJsonText(text), path)!, name, value)]);
}

test('one value is replaced and nothing else', () => {
  expect(set(sample, ['list', 0], 'x', 'new')).toBe(sample.replace('"y"', '"new"'));
  expect(set(sample.replaceAll('\n', '\r\n'), [], 'a', 2)).toBe(sample.replaceAll('\n', '\r\n').replace('1.0', '2'));
});

test.each([
  [sample, [], sample.replace('{}\n}', '{},\n  "new": "v"\n}')],
  [sample, ['list', 0], sample.replace('1e2 }', '1e2, "new": "v" }')],
  [sample, ['list', 1], sample.replace('"z"}', '"z","new":"v"}')],
  [sample, ['empty'], sample.replace('{}', '{"new": "v"}')],
  ['{\n\t"a" : 1\n}', [], '{\n\t"a" : 1,\n\t"new" : "v"\n}'],
])('a member is added in the layout of the one before', (text, path, expected) => {
  expect(set(text, path, 'new', 'v')).toBe(expected);
});
