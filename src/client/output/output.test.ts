import { describe, expect, test } from 'vitest';
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import { age, duration } from './age.ts';
import { Output } from './output.ts';
import { table } from './table.ts';
import { commandLine, cut, cutStart, plain, width } from './text.ts';

class Paper {
  text = '';
  readonly isTTY: boolean;
  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }
  write(text: string): void {
    this.text += text;
  }
}

function open(json: boolean, isTTY: boolean, env: NodeJS.ProcessEnv = {}) {
  const stdout = new Paper(isTTY);
  const stderr = new Paper(isTTY);
  return { stdout, stderr, out: new Output(json, stdout, stderr, env) };
}

describe('plain', () => {
  test.each([
    ['\u001b[31mred', '\\u001b[31mred'],
    ['a\nb\r\tc', 'a\\nb\\r\\tc'],
    ['\u009b2J', '\\u009b2J'],
    ['abc\u202egpj.exe', 'abc\\u202egpj.exe'],
    ['\u200b\u2066x\u2028', '\\u200b\\u2066x\\u2028'],
    ['lone \ud800', 'lone \\ud800'],
    ['tag \u{e0061}', 'tag \\u{e0061}'],
    ['selector \ufe0f\u{e0101}', 'selector \\ufe0f\\u{e0101}'],
    ['\u115f\u3164\u034f\u180e\uffa0', '\\u115f\\u3164\\u034f\\u180e\\uffa0'],
    ['\u00ad\u061c\u2060\ufeff\ufff9', '\\u00ad\\u061c\\u2060\\ufeff\\ufff9'],
    ['private \ue000, unassigned \u0378, musical \u{1d173}', 'private \\ue000, unassigned \\u0378, musical \\u{1d173}'],
    ['grüße 日本 🙂 "quoted" \\', 'grüße 日本 🙂 "quoted" \\'],
  ])('shows %j without control and invisible characters', (text, shown) => {
    expect(plain(text)).toBe(shown);
  });
});

test('plain, printable and JSON output print no invisible character', () => {
  const odd = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Variation_Selector}\p{Bidi_Control}]/u;
  const all = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((one) => odd.test(one));
  const text = all.join('');
  expect(plain(text)).not.toMatch(odd);
  expect(printable(text, Number.POSITIVE_INFINITY)).not.toMatch(odd);
  const { out, stdout } = open(true, false);
  out.document({ text }, 0);
  expect(stdout.text.trimEnd()).not.toMatch(odd);
  expect(JSON.parse(stdout.text)).toEqual({ text });
});

test('width counts columns, not characters', () => {
  expect(width('abc')).toBe(3);
  expect(width('日本')).toBe(4);
  expect(width('e\u0301')).toBe(1);
  expect(width('\u001b[32mrunning\u001b[0m')).toBe(7);
});

test('cut and cutStart keep within their columns', () => {
  expect(cut('abcdef', 6)).toBe('abcdef');
  expect(cut('abcdef', 4)).toBe('abc…');
  expect(cut('日本語', 4)).toBe('日…');
  expect(cutStart('abcdef', 6)).toBe('abcdef');
  expect(cutStart('abcdef', 4)).toBe('…def');
  expect(cutStart('日本語', 4)).toBe('…語');
});

test('a command is shown quoted for a shell, without control characters', () => {
  expect(commandLine(['sh', '-c', "echo 'hi'\n"])).toBe("sh -c 'echo '\\''hi'\\''\\n'");
  expect(commandLine(['', '\u001b'])).toBe("'' '\\u001b'");
});

test('a table is aligned and has no trailing spaces', () => {
  const lines = table([
    ['NAME', 'STATE', 'X'],
    ['a', '\u001b[32mrunning\u001b[0m', ''],
    ['日本語', 'x', 'y'],
  ]);
  expect(lines).toEqual(['NAME    STATE    X', 'a       \u001b[32mrunning\u001b[0m', '日本語  x        y']);
});

test('durations and ages are one short number', () => {
  expect([0, 59, 60, 3599, 3600, 47 * 3600, 48 * 3600].map(duration)).toEqual([
    ...['0s', '59s', '1m', '59m', '1h', '47h', '2d'],
  ]);
  expect(age('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:03:10Z'))).toBe('3m');
  expect(age('2026-01-01T00:00:00Z', 0)).toBe('0s');
  expect(age('never')).toBe('-');
});

test('a failure prints message and hint without control characters, and returns its exit code', () => {
  const { out, stderr, stdout } = open(false, false);
  expect(out.fail(new Fault('not_found', 'no \u001b[2J', { hint: 'try\nthis' }))).toBe(5);
  expect(stderr.text).toBe('carrel: no \\u001b[2J\n  hint: try\n        this\n');
  expect(stdout.text).toBe('');
});

test('with --json a failure is JSON on stderr, and nothing else is printed there', () => {
  const { out, stderr, stdout } = open(true, true);
  out.note('a note');
  out.say('words');
  out.warn('a warning');
  out.progress('working');
  expect(out.fail(new Fault('invalid', 'bad', { hint: 'good' }))).toBe(2);
  expect(JSON.parse(stderr.text)).toEqual({ code: 'invalid', message: 'bad', hint: 'good' });
  expect(stdout.text).toBe('');
});

test('colours and notes are printed only on a terminal, and no colours with NO_COLOR', () => {
  expect(open(false, true).out.paint('red', 'x')).toBe('\u001b[31mx\u001b[0m');
  expect(open(false, true, { NO_COLOR: '1' }).out.paint('red', 'x')).toBe('x');
  expect(open(false, false).out.paint('red', 'x')).toBe('x');
  const piped = open(false, false);
  piped.out.note('hello');
  expect(piped.stderr.text).toBe('');
  piped.out.say('no\nchanges');
  expect(piped.stderr.text).toBe('no\\nchanges\n');
});

test('progress replaces the line before, and cuts the text but not its end', () => {
  const { out, stderr } = open(false, true);
  out.progress('copied 3M of ', ' (2s)');
  out.progress(`copied 3M of ${'x'.repeat(100)}`, ' (12s)');
  expect(stderr.text.split('\r\u001b[K')).toEqual([
    '',
    'copied 3M of  (2s)',
    expect.stringMatching(/^.{72}… \(12s\)$/),
  ]);
  expect(stderr.text).not.toContain('\n');
});

test('progress is not drawn over a question', async () => {
  const { out, stderr } = open(false, true);
  await out.withoutProgress(Promise.resolve().then(() => out.progress('working')));
  expect(stderr.text).toBe('');
  out.progress('working');
  expect(stderr.text).toContain('working');
});
