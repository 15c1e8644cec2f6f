import { expect, test } from 'vitest';
import { pathText } from './path-text.ts';

test.each([
  ['src/a b.ts', 'src/a b.ts'],
  ['grüße/日本.txt', 'grüße/日本.txt'],
  ['a\nb', '"a\\nb"'],
  ['a\tb\rc', '"a\\tb\\rc"'],
  ['\u001b[2J', '"\\033[2J"'],
  ['say "hi"', '"say \\"hi\\""'],
  ['back\\slash', '"back\\\\slash"'],
  ['abc\u202egpj.exe', '"abc\\342\\200\\256gpj.exe"'],
  ['\u009b31m', '"\\302\\23331m"'],
  [' led and trailed ', '" led and trailed "'],
  ['', '""'],
  ['a\u{e0061}.ts', '"a\\363\\240\\201\\241.ts"'],
  ['a\u00a0b', '"a\\302\\240b"'],
  ['a\u2800b', '"a\\342\\240\\200b"'],
])('%j is shown safely on one line', (path, shown) => {
  expect(pathText({ path })).toBe(shown);
});

test('bytes that are not UTF-8 are escaped, and the text around them is kept', () => {
  const pathBase64 = Buffer.from([0x61, 0xff, 0xc3, 0xa9, 0xc3, 0x0a, 0xe2, 0x82]).toString('base64');
  expect(pathText({ path: 'a\ufffdé\ufffd\n\ufffd', pathBase64 })).toBe('"a\\377é\\303\\n\\342\\202"');
});

test('the shown path has no control characters and no line breaks', () => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const shown = pathText({ path: '?', pathBase64: bytes.toString('base64') });
  expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
});
