import { describe, expect, it } from 'vitest';
import { parseDockerfile } from './parse.ts';

const parse = (text: string) =>
  parseDockerfile('D', Buffer.from(text)).instructions.map(({ name, line, text: rest }) => `${line} ${name} ${rest}`);
const bodies = (text: string) => parseDockerfile('D', Buffer.from(text)).instructions[0]!.heredocs;

describe('instructions', () => {
  it.each<[what: string, text: string, found: string[]]>([
    ['one on each line, in upper or lower case', 'from a\nRun b\n', ['1 FROM a', '2 RUN b']],
    ['without comments and empty lines', '# x\n\n  # y\nFROM a', ['4 FROM a']],
    ['with continued lines', 'RUN a \\\n  b \\\n\tc\nCMD d', ['1 RUN a   b \tc', '4 CMD d']],
    ['with spaces after the escape character', 'RUN a \\  \n b', ['1 RUN a  b']],
    ['with comments and empty lines between continued lines', 'RUN a \\\n# FROM b\n\n  # c\n d', ['1 RUN a  d']],
    ['with CR LF line ends', 'FROM a\r\nRUN b \\\r\n c\r\n', ['1 FROM a', '2 RUN b  c']],
    ['after a byte order mark', '\ufeffFROM a', ['1 FROM a']],
    ['with another escape character', '# escape=`\nRUN a `\n b\\\nRUN c', ['2 RUN a  b\\', '4 RUN c']],
    ['with a known syntax directive', '# syntax=docker/dockerfile:1.7\n# Escape = `\nRUN a `\n b', ['3 RUN a  b']],
    ['with a directive after a comment, which is only a comment', '# x\n# escape=`\nRUN a \\\n b', ['3 RUN a  b']],
    ['without the lines of a heredoc', 'RUN <<EOF\nFROM evil\nEOF\nCMD a', ['1 RUN <<EOF', '4 CMD a']],
    [
      'without the lines of a heredoc whose end is indented',
      'RUN <<-E cat\n\tFROM b\n\tE\nCMD a',
      ['1 RUN <<-E cat', '4 CMD a'],
    ],
    [
      'without the lines of several heredocs',
      'RUN <<A cat <<\'B\' 3<<"C"\nA\nRUN x\nB\nC\nCMD a',
      [`1 RUN <<A cat <<'B' 3<<"C"`, '6 CMD a'],
    ],
    [
      'with text that only looks like a heredoc',
      'RUN echo "<<EOF" \\<<A $((1<<2)) 1 << 2 x <<<y',
      ['1 RUN echo "<<EOF" \\<<A $((1<<2)) 1 << 2 x <<<y'],
    ],
    [
      'with a list whose text looks like a heredoc',
      'RUN ["cat", "<<EOF"]\nCMD a',
      ['1 RUN ["cat", "<<EOF"]', '2 CMD a'],
    ],
  ])('are parsed %s', (_what, text, found) => {
    expect(parse(text)).toEqual(found);
  });

  it('keep the content of heredocs', () => {
    expect(bodies('RUN <<EOF\n a\n\nEOFx\n EOF\nEOF')).toMatchObject([{ name: 'EOF', body: ' a\n\nEOFx\n EOF\n' }]);
    expect(bodies('RUN <<-EOF\n\t\ta\n \tb\n\tEOF')).toMatchObject([{ name: 'EOF', body: 'a\n \tb\n' }]);
  });
});

describe('text that is not understood', () => {
  it.each<[text: string, line: number, what: string]>([
    ['FROM a\nEOF', 2, '"EOF" is not an instruction'],
    ['FROM a\nRUN <<EOF\nx', 2, 'the heredoc EOF has no end'],
    ['RUN cat <<EOF;', 1, 'a heredoc that is not understood'],
    ['RUN cat <<"a b"', 1, 'a heredoc that is not understood'],
    ['FROM a\nRUN a \\\n# b\n', 2, 'and the file ends'],
    ['FROM a\nRUN a \\\n b\\\\\nFROM evil', 3, 'may or may not continue'],
    ['FROM a\nRUN \u0085--mount=x', 2, 'control character'],
    ['FROM a\nRUN a\u0000', 2, 'control character'],
    ['FROM a\rFROM evil', 1, 'control character'],
    ['# syntax=evil/frontend\nFROM a', 1, 'evil/frontend'],
    ['#syntax=docker/dockerfile:1\n#syntax=docker/dockerfile:1\n', 2, 'comes twice'],
    ['# escape=x\nFROM a', 1, 'cannot continue lines'],
    ['ＦＲＯＭ a', 1, 'is not an instruction'],
  ])('%j is refused with its line', (text, line, what) => {
    expect(() => parse(text)).toThrow(new RegExp(`^D, line ${line}: .*${what}`));
  });

  it('is refused with its line if it is not UTF-8', () => {
    expect(() => parseDockerfile('D', Buffer.from([0x46, 0xff, 0x0a]))).toThrow('D, line 1: ');
  });
});
