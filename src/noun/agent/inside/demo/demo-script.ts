/** The steps of the agent of `carrel demo`, by story. */
import { dedent } from '../../../../lib/text/dedent.ts';

export type DemoStep =
  | { readonly say: string }
  | { readonly write: string; readonly content: string }
  /** `find` must occur exactly once in the file. */
  | { readonly edit: string; readonly find: string; readonly put: string }
  /** Run the tests of the project. */
  | { readonly test: true };

const test: DemoStep = { test: true };

/** By the title of the story. */
export const demoScripts: Readonly<Record<string, readonly DemoStep[]>> = {
  'Count lines': [
    { say: 'A file of its own, so that it can be tested alone.' },
    {
      write: 'src/lines.js',
      content: dedent(`
        /** The lines of a text. The last one counts, though nothing ends it. */
        export function lines(text) {
          return text === '' ? 0 : text.replace(/\\n$/, '').split('\\n').length;
        }
      `),
    },
    {
      write: 'test/lines.test.js',
      content: dedent(`
        import assert from 'node:assert';
        import { test } from 'node:test';
        import { lines } from '../src/lines.js';

        test('lines', () => {
          assert.deepEqual(['', 'a', 'a\\n', 'a\\nb', '\\n\\n'].map(lines), [0, 1, 1, 2, 2]);
        });
      `),
    },
    test,
    { say: 'Lines are counted, whether or not the last one is ended.' },
  ],
  'Count words': [
    { say: 'Words are separated by white space.' },
    {
      write: 'src/words.js',
      content: dedent(`
        /** The words of a text, separated by white space. */
        export function words(text) {
          return text.split(/\\s+/).filter(Boolean).length;
        }
      `),
    },
    {
      write: 'test/words.test.js',
      content: dedent(`
        import assert from 'node:assert';
        import { test } from 'node:test';
        import { words } from '../src/words.js';

        test('words', () => {
          assert.deepEqual(['', ' ', 'one', ' one\\n two '].map(words), [0, 0, 1, 2]);
        });
      `),
    },
    test,
    { say: 'Words are counted.' },
  ],
  'Tell of words and lines': [
    { say: 'Both are there now; putting them together.' },
    {
      edit: 'src/tally.js',
      find: '/** What there is in a text. */',
      put: [
        "import { lines } from './lines.js';",
        "import { words } from './words.js';",
        '',
        '/** What there is in a text. */',
      ].join('\n'),
    },
    {
      edit: 'src/tally.js',
      find: '  return { characters };',
      put: '  return { characters, words: words(text), lines: lines(text) };',
    },
    { edit: 'README.md', find: '- characters', put: '- characters\n- words\n- lines' },
    test,
    { say: 'tally tells of characters, words and lines.' },
  ],
  'Print what is in a file': [
    { say: 'A small program around tally.' },
    {
      write: 'bin/tally.js',
      content: dedent(`
        #!/usr/bin/env node
        import { readFileSync } from 'node:fs';
        import { tally } from '../src/tally.js';

        const text = readFileSync(process.argv[2] ?? 0, 'utf8');
        for (const [what, count] of Object.entries(tally(text))) console.log(\`\${count} \${what}\`);
      `),
    },
    {
      write: 'test/program.test.js',
      content: dedent(`
        import assert from 'node:assert';
        import { execFileSync } from 'node:child_process';
        import { test } from 'node:test';

        test('the program prints what is in a file', () => {
          assert.match(execFileSync(process.execPath, ['bin/tally.js', 'README.md'], { encoding: 'utf8' }), /^\\d+ characters$/m);
        });
      `),
    },
    test,
    { say: 'bin/tally.js prints a line for each thing that is counted.' },
  ],
  'Say how it is used': [
    { say: 'The README is where people look first.' },
    {
      edit: 'README.md',
      find: "    import { tally } from './src/tally.js';",
      put: "    import { tally } from './src/tally.js';\n\nOr in a terminal:\n\n    node bin/tally.js FILE",
    },
    test,
    { say: 'The README tells of the program.' },
  ],
  'Show what is wrong': [
    { say: 'A reader sees a family as one character; we count five.' },
    {
      write: 'test/characters.test.js',
      content: dedent(`
        import assert from 'node:assert';
        import { test } from 'node:test';
        import { tally } from '../src/tally.js';

        test('characters are what people see', { todo: 'they are code points' }, () => {
          assert.equal(tally('👨‍👩‍👧').characters, 1);
        });
      `),
    },
    test,
    { say: 'There is a test that shows it, marked as to do.' },
  ],
  'Count what people see': [
    { say: 'Intl.Segmenter knows what a character is.' },
    {
      edit: 'src/tally.js',
      find: '  const characters = [...text].length;',
      put: '  const characters = [...new Intl.Segmenter().segment(text)].length;',
    },
    { edit: 'test/characters.test.js', find: ", { todo: 'they are code points' }", put: '' },
    test,
    { say: 'A family is one character now.' },
  ],
};
