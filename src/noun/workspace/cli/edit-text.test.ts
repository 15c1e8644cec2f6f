import { expect, test } from 'vitest';
import { parseSection } from '../model/patch-section.ts';
import { editedLines, editText } from './edit-text.ts';

const body = ' #a\n-b\n+\u00ff#\r\n\\ No newline at end of file\n';
const hunk = parseSection(`head\n@@ -3,2 +3,2 @@ place\n${body}`).hunks[0]!;

test('the edited file has the hunk between the instructions of git', () => {
  const text = editText(hunk);
  expect(text).toContain(
    `# Manual hunk edit mode -- see bottom for a quick guide.\n@@ -3,2 +3,2 @@ place\n${body}# ---\n`,
  );
  expect(text).toContain(
    "# To remove '-' lines, make them ' ' lines (context).\n# To remove '+' lines, delete them.\n",
  );
  expect(editedLines(text)).toBe(body);
});

test('a second edit begins with the lines of the first', () => {
  expect(editedLines(editText(hunk, '+x\n'))).toBe('+x\n');
  expect(editText(hunk, '+x\n')).toContain('@@ -3,2 +3,2 @@ place\n+x\n# ---\n');
});

test.each([
  ['# only comments\n', ''],
  ['@@ -1 +1 @@\n# and a head\n', ''],
  ['', ''],
  ['-a\n+b', '-a\n+b\n'],
  ['# 1\n\n+#\n #\n', '\n+#\n #\n'],
])('%j has the lines %j', (text, lines) => {
  expect(editedLines(text)).toBe(lines);
});
