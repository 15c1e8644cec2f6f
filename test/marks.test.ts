// @reads sources
import { describe, expect, it } from 'vitest';
import { marksBelow, readMarks } from './marks.ts';

const code = "import { it } from 'vitest';\n";
const none = { needs: [], takesSeconds: 0, readsSources: false };

describe('the marks of a test file', () => {
  it.each([
    ['', none],
    [`// Why.\n${code}`, none],
    [`/** Why. */\n${code}`, none],
    [`// @needs root\n${code}`, { ...none, needs: ['root'] }],
    [
      `// @needs all\n// @needs root\n// @takes 40 s\n/** Why. */\n${code}`,
      { ...none, needs: ['root', 'all'], takesSeconds: 40 },
    ],
    [`// @reads sources\n${code}`, { ...none, readsSources: true }],
    [`// @needs first-node\n${code}`, { ...none, needs: ['first-node'] }],
  ])('are read from %j', (source, marks) => {
    expect(readMarks('a.test.ts', source)).toEqual(marks);
  });

  it.each([
    [`// @needs rot\n${code}`, 'a.test.ts: mark "// @needs rot": unknown'],
    [`// @needs root \n${code}`, 'unknown'],
    [`// @needs\n${code}`, 'unknown'],
    [`// @takes long\n${code}`, 'unknown'],
    [`// @takes 1 min\n${code}`, 'unknown'],
    [`// @ts-nocheck\n${code}`, 'unknown'],
    [`// @needs root\n// @needs root\n${code}`, 'repeated'],
    [`${code}// @needs root\n`, 'not at the top'],
    [`// @needs root\n\n// @needs all\n${code}`, 'not at the top'],
  ])('are refused in %j', (source, message) => {
    expect(() => readMarks('a.test.ts', source)).toThrow(message);
  });

  it.each(['src', 'test/conformance', 'test/integration', 'test/e2e'])('are known in all files of %s', (folder) => {
    expect(marksBelow(folder).size).toBeGreaterThan(5);
  });
});
