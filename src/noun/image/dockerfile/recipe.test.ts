import { describe, expect, it } from 'vitest';
import { isFault } from '../../../model/fault.ts';
import { parseDockerfile } from './parse.ts';
import { recipeFrom } from './recipe.ts';

const base = { names: ['base:1', 'old:base'], id: 'sha256:abc' };
const from = (text: string) => recipeFrom(parseDockerfile('D', Buffer.from(text)), base);
const lines = (text: string) => from(text).steps.map((step) => step.text);

describe('stages', () => {
  it.each<[what: string, text: string, found: string[]]>([
    ['the base by its name', 'FROM base:1', ['FROM sha256:abc']],
    ['the base by another name', 'from old:base as x', ['FROM sha256:abc AS x']],
    ['an earlier stage', 'FROM base:1 AS One\nFROM one', ['FROM sha256:abc AS one', 'FROM one']],
    ['a variable', 'ARG B=base:1\nFROM $B', ['ARG B=base:1', 'FROM sha256:abc']],
    [
      'a variable of a variable',
      `ARG T="1"\nARG B=base:\${T}\nFROM \${B}`,
      ['ARG T="1"', `ARG B=base:\${T}`, 'FROM sha256:abc'],
    ],
    ['the default of a variable that is not set', `FROM \${B:-base:1}`, ['FROM sha256:abc']],
    ['the replacement of a variable that is set', `ARG B='x'\nFROM \${B:+base:1}`, ["ARG B='x'", 'FROM sha256:abc']],
    ['this platform', 'FROM --platform=$BUILDPLATFORM base:1', ['FROM sha256:abc']],
  ])('begin with %s', (_what, text, found) => {
    expect(lines(text)).toEqual(found);
  });

  it.each<[text: string, line: number, what: string]>([
    ['FROM debian', 1, 'debian is not the base image'],
    ['FROM scratch', 1, 'scratch is not the base image'],
    ['FROM base', 1, 'base is not the base image'],
    ['FROM base:1@sha256:0', 1, 'is not the base image'],
    ['FROM registry.example/base:1', 1, 'is not the base image'],
    ['FROM base:1\nFROM alpine AS b', 2, 'alpine is not the base image'],
    ['FROM base:1 AS a\n\nFROM b', 3, 'b is not the base image'],
    ['FROM base:1 AS a\nARG B=evil\nFROM $B', 3, 'is not the base image'],
    [`ARG B=evil\nFROM \${B:-base:1}`, 2, 'which is evil,'],
    ['ARG B\nFROM $B', 2, 'is not the base image'],
    [`FROM \${B:?base:1}`, 1, 'is not the base image'],
    [`FROM \${B:-\${C}}`, 1, 'is not the base image'],
    ['ARG B=ba\\se:1\nFROM $B', 1, 'is not understood'],
    ['FROM --platform=linux/s390x base:1', 1, 'cannot be had'],
    ['FROM --evil base:1', 1, 'cannot be had'],
    ['FROM base:1 AS', 1, 'FROM takes'],
    ['FROM base:1 IS a', 1, 'FROM takes'],
    ['FROM base:1 AS a b', 1, 'FROM takes'],
    ['FROM base:1 AS 0', 1, 'cannot name a stage'],
    ['FROM base:1 AS a\nFROM base:1 AS A', 2, 'there is a stage A already'],
    ['RUN x\nFROM base:1', 1, 'comes before the first FROM'],
    ['ARG A=1', 1, 'it has no FROM'],
    ['', 1, 'it has no FROM'],
  ])('%j is refused with its line', refused);
});

function refused(text: string, line: number, what: string): void {
  let error: unknown;
  try {
    from(text);
  } catch (thrown) {
    error = thrown;
  }
  expect(isFault(error, 'invalid') && error.message).toContain(`D, line ${line}: `);
  expect(isFault(error) && error.message).toContain(what);
}

const on = (text: string) => `FROM base:1 AS one\nFROM base:1\n${text}`;

describe('a step', () => {
  it('is kept as written', () => {
    const text = 'RUN a \\\n  b\nENV A=1\nUSER root\nWORKDIR /x\nCMD ["x"]\nLABEL a="b c" d=carrel.e';
    expect(lines(on(text)).slice(2)).toEqual([
      'RUN a   b',
      'ENV A=1',
      'USER root',
      'WORKDIR /x',
      'CMD ["x"]',
      'LABEL a="b c" d=carrel.e',
    ]);
    expect(from(on('RUN a \\\n  b')).steps.at(-1)).toMatchObject({ line: 3, title: 'RUN a   b' });
  });

  it.each<[text: string]>([
    ['RUN --mount=type=bind,from=evil,target=/x true'],
    ['RUN --mount=type=secret,id=a true'],
    ['RUN --network=host true'],
    ['RUN --security=insecure true'],
    ['RUN \\\n --mount=type=ssh true'],
    ['RUN \u00a0--mount=type=ssh true'],
    ['RUN --mount=type=ssh <<EOF\nEOF'],
    ['ADD http://169.254.169.254/latest /x'],
    ['ADD HTTPS://example.com/a /x'],
    ['ADD ["http://localhost/a", "/x"]'],
    ['ADD "http://localhost/a" /x'],
    ['ADD h\\ttp://localhost/a /x'],
    ['ADD $URL /x'],
    ['ADD git@example.com:a/b.git /x'],
    ['ADD --checksum=sha256:a a /x'],
    ['ADD --from=one a /x'],
    ['COPY --from=alpine /etc/passwd /x'],
    ['COPY --from=two /x /x'],
    ['COPY --from=1 /x /x'],
    ['COPY --from=$A /x /x'],
    ['COPY --from="alpine" /x /x'],
    ['COPY --fr\\om=alpine /x /x'],
    ['COPY --chown=a\ufeff--from=alpine /x /x'],
    ['COPY --link a /x'],
    ['COPY --chmod=755 a /x'],
    ['COPY -- --from=alpine /x'],
    ['COPY a'],
    ['COPY ["a", 1]'],
    ['COPY ["a" "b"]'],
    ['COPY <<EOF /x\nEOF'],
    ['ONBUILD RUN true'],
    ['ONBUILD COPY --from=alpine / /'],
    ['VOLUME /x'],
    ['LABEL carrel.id=0123456789abcdef'],
    ['LABEL a=b "carrel.installation"=x'],
    ["LABEL car'rel.id'=x"],
    ['LABEL $A=x'],
    ['LABEL carrel.id x'],
    ['SHELL bash'],
    ['RUN <<EOF\n#!/usr/bin/python3\nEOF'],
    ['RUN echo a\\ \\\n#'],
    [`RUN ${'x'.repeat(70_000)}`],
  ])('%j is refused with its line', (text) => refused(on(text), 3, ''));
});

describe('files of the project', () => {
  it('are those that COPY and ADD name, and all files if a name contains a variable', () => {
    const text = `COPY --chown=agent:agent a b/*.js /x/\nADD a.tar /y\nCOPY --from=one z /\nCOPY ["c", "/x"]\nCOPY \${D}/e /x`;
    expect(from(on(text)).files).toEqual([
      { line: 3, patterns: ['a', 'b/*.js'] },
      { line: 4, patterns: ['a.tar'] },
      { line: 6, patterns: ['c'] },
      { line: 7, patterns: ['.'] },
    ]);
    expect(lines(on(text)).slice(2, 5)).toEqual([
      'COPY --chown=agent:agent a b/*.js /x/',
      'ADD a.tar /y',
      'COPY --from=one z /',
    ]);
    expect(lines(on('COPY --from=0 z /')).at(-1)).toBe('COPY --from=0 z /');
  });
});

describe('heredocs', () => {
  it('become one line for the builder', () => {
    expect(lines(on('RUN <<EOF\nset -e\nFROM evil\nEOF')).at(-1)).toBe('RUN ["/bin/sh","-c","set -e\\nFROM evil\\n"]');
    expect(lines(on("RUN cat <<'A' > /x\n$a\nA")).at(-1)).toBe(`RUN ["/bin/sh","-c","cat <<'A' > /x\\n$a\\nA\\n"]`);
  });

  it('run in the shell of their stage', () => {
    const text = 'FROM base:1 AS a\nSHELL ["/bin/bash", "-ec"]\nFROM a\nRUN <<E\nx\nE\nFROM base:1\nRUN <<E\nx\nE';
    expect(lines(text).filter((line) => line.startsWith('RUN'))).toEqual([
      'RUN ["/bin/bash","-ec","x\\n"]',
      'RUN ["/bin/sh","-c","x\\n"]',
    ]);
  });
});

it('every accepted step is one line, and every stage is on the base', () => {
  const pieces = [
    ...[
      'FROM base:1',
      'FROM base:1 AS a',
      'FROM a',
      'FROM evil',
      'ARG A=base:1',
      'FROM $A',
      'RUN x',
      'RUN x \\',
      '\\',
      '# x',
    ],
    ...[
      'RUN <<EOF',
      'EOF',
      'COPY a b',
      'COPY --from=a x y',
      '# escape=`',
      '`',
      '',
      'RUN a \\\\',
      'ENV a=b',
      'RUN cat <<EOF >x',
    ],
  ];
  let [seed, accepted] = [1, 0];
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed % below;
  };
  for (let round = 0; round < 20_000; round += 1) {
    const text = Array.from({ length: 1 + random(6) }, () => pieces[random(pieces.length)]).join('\n');
    try {
      for (const line of lines(text)) {
        expect(line).not.toContain('\n');
        if (line.startsWith('FROM')) expect(line).toMatch(/^FROM (sha256:abc|a)( AS a)?$/);
      }
      accepted += 1;
    } catch (error) {
      if (!isFault(error, 'invalid')) throw error;
    }
  }
  expect(accepted).toBeGreaterThan(200);
});
