import { expect, test } from 'vitest';
import { DiffText } from './diff-text.ts';

function show(text: string | Buffer, { colour = false, pieceBytes = 1 << 20 } = {}): string {
  const bytes = Buffer.from(text as string);
  const diff = new DiffText(colour);
  let shown = '';
  for (let at = 0; at < bytes.length; at += pieceBytes) shown += diff.take(bytes.subarray(at, at + pieceBytes));
  return shown + diff.end();
}

const [red, green, cyan, bold, off] = ['\u001b[31m', '\u001b[32m', '\u001b[36m', '\u001b[1m', '\u001b[0m'];

test.each([
  ['+\u001b[2Jx\n', '+^[[2Jx\n'],
  ['+\u001b]0;title\u0007\n', '+^[]0;title^G\n'],
  ['+a\r\n', '+a^M\n'],
  ['+a\tb\n', '+a\tb\n'],
  ['+\u007f\u0000\n', '+^?^@\n'],
  ['+\u009b31m\n', '+\\u009b31m\n'],
  ['+abc\u202egpj\n', '+abc\\u202egpj\n'],
  ['+\ufeffx\n', '+\\ufeffx\n'],
  ['+grüße 日本\n', '+grüße 日本\n'],
  ['no end', 'no end'],
])('%j is shown without control characters', (text, shown) => {
  expect(show(text)).toBe(shown);
});

test('bytes that are not UTF-8 cannot hide an escape sequence', () => {
  expect(show(Buffer.from([0x2b, 0xc3, 0x1b, 0x5b, 0x9b, 0x0a]))).toBe('+\ufffd^[[\ufffd\n');
});

test('no byte becomes a control character in the output', () => {
  for (let byte = 0; byte < 256; byte += 1) {
    const shown = show(Buffer.from([0x2b, byte, 0x41, 0x0a]), { colour: true });
    expect(shown.replaceAll(/\u001b\[\d+m/g, '')).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/);
  }
});

const diff = [
  'diff --git a/x b/x',
  'index 1..2 100644',
  '--- a/x',
  '+++ b/x',
  '@@ -1,2 +1,2 @@ f',
  '--- sql',
  '+++ c',
  ' x',
];
const coloured = [
  ...diff.slice(0, 4).map((line) => `${bold}${line}${off}`),
  `${cyan}${diff[4]}${off}`,
  `${red}--- sql${off}`,
  `${green}+++ c${off}`,
  ' x',
];

test('content that looks like a header is coloured as content', () => {
  expect(show(`${diff.join('\n')}\ncreate folder x\n`, { colour: true })).toBe(
    `${coloured.join('\n')}\ncreate folder x\n`,
  );
});

test('the note about a missing end of line is not counted as a line of the hunk', () => {
  const text = '@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\nindex x\n';
  expect(show(text, { colour: true })).toContain(
    `${green}+b${off}\n\\ No newline at end of file\n${bold}index x${off}\n`,
  );
});

test('the output does not depend on where chunks end', () => {
  const text = `${diff.join('\n')}\n+grüße \u001b[1m日本 🙂\r\n`;
  for (const pieceBytes of [1, 2, 3, 7])
    expect(show(text, { colour: true, pieceBytes })).toBe(show(text, { colour: true }));
});
