import { describe, expect, test } from 'vitest';
import type { OfferedView } from '../api.ts';
import { FileChoice, help } from './hunk-choice.ts';

const head = 'diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n';
const hunks = '@@ -1,5 +1,5 @@\n-a\n+A\n b\n-c\n+C\n@@ -20 +20 @@\n-t\n+T\n@@ -30 +30 @@\n-u\n+U\n';

function choice(text = head + hunks, rest: Partial<OfferedView> = {}): FileChoice {
  const section = Buffer.from(text, 'latin1').toString('base64');
  return new FileChoice({ path: 'f', status: 'M', id: '0', divisible: true, section, ...rest });
}

function answered(file: FileChoice, ...keys: string[]) {
  const last = keys.map((key) => file.answer(key)).at(-1);
  return [last?.do, file.pick];
}

test('y and n decide one hunk, in any order', () => {
  expect(answered(choice(), 'y', 'n', 'y')).toEqual(['done', { id: '0', blocks: [0, 1, 3], mode: false }]);
  expect(answered(choice(), 'J', 'J', 'y', 'y', 'y')).toEqual(['done', { id: '0' }]);
  expect(answered(choice(), 'n', 'n', 'n')).toEqual(['done', null]);
});

test('a and d decide the rest of the file, but not hunks that were decided before', () => {
  expect(answered(choice(), 'n', 'a')).toEqual(['done', { id: '0', blocks: [2, 3], mode: false }]);
  expect(answered(choice(), 'y', 'd')).toEqual(['done', { id: '0', blocks: [0, 1], mode: false }]);
  // The question about an earlier undecided hunk comes again.
  expect(answered(choice(), 'j', 'a')).toEqual(['ask', { id: '0', blocks: [2, 3], mode: false }]);
});

test('q keeps the taken hunks and takes no undecided one', () => {
  expect(answered(choice(), 'j', 'y', 'q')).toEqual(['quit', { id: '0', blocks: [2], mode: false }]);
});

test('j, J, k and K move, and are offered only where there is a hunk', () => {
  const file = choice();
  expect(file.prompt).toBe('(1/3) Take this hunk [y,n,q,a,d,j,J,g,/,s,e,p,?]? ');
  expect(file.answer('k')).toEqual({ do: 'say', text: 'no previous hunk' });
  file.answer('y');
  expect(file.prompt).toBe('(2/3) Take this hunk [y,n,q,a,d,j,J,K,g,/,e,p,?]? ');
  file.answer('K');
  expect(file.answer('n').do).toBe('ask');
  expect(answered(file, 'y', 'q')[1]).toEqual({ id: '0', blocks: [2], mode: false });
});

test('g lists the hunks with their decisions, and goes to one of them', () => {
  const file = choice(`${head}${hunks}@@ -40 +40 @@\n-\u00e2\u0080\u00ae\n+v\n`);
  file.answer('y');
  file.answer('n');
  expect(file.answer('g')).toEqual({
    do: 'say',
    text: '+1: @@ -1,3 +1,3 @@ -a\n-2: @@ -20 +20 @@ -t\n 3: @@ -30 +30 @@ -u\n 4: @@ -40 +40 @@ -\\u202e',
  });
  expect(answered(file, 'g 1', 'n', 'g4', 'y', 'd')).toEqual(['done', { id: '0', blocks: [4], mode: false }]);
  for (const bad of ['g9', 'g 0', 'g x'])
    expect(file.answer(bad)).toMatchObject({ do: 'say', text: expect.stringContaining('no hunk') });
});

test('/ goes to the next hunk that matches, from the last to the first', () => {
  const file = choice();
  expect(answered(file, '/^\\+[UV]', 'y', 'd')[1]).toEqual({ id: '0', blocks: [3], mode: false });
  expect(answered(choice(), 'J', '/A', 'y', 'q')[1]).toEqual({ id: '0', blocks: [0, 1], mode: false });
  expect(file.answer('/nowhere')).toEqual({ do: 'say', text: 'no hunk matches nowhere' });
  for (const bad of ['/', '/(']) expect(file.answer(bad)).toMatchObject({ do: 'say' });
});

test('p shows the hunk again', () => {
  const file = choice();
  file.answer('J');
  expect([file.answer('p').do, file.prompt.slice(0, 5)]).toEqual(['ask', '(2/3)']);
});

test('s splits a hunk with context between its changes', () => {
  const file = choice();
  expect(file.answer('s')).toEqual({ do: 'say', text: 'split into 2 hunks' });
  expect(answered(file, 'n', 'y', 'd')).toEqual(['done', { id: '0', blocks: [1], mode: false }]);
  expect(choice(`${head}@@ -1 +1 @@\n-a\n+b\n`).answer('s')).toEqual({ do: 'say', text: 'this cannot be split' });
});

describe('the key e', () => {
  const lines = (text: string) => Buffer.from(text, 'latin1').toString('base64');
  const small = '-t\n+\u00ff\n';

  test('takes the hunk with the lines of its edit', () => {
    const file = choice();
    file.answer('J');
    expect(file.answer('e')).toMatchObject({ do: 'edit', hunk: { oldStart: 19 } });
    expect(file.edit(small)).toEqual({ do: 'ask' });
    const edits = [{ blocks: [2], lines: lines(small) }];
    expect(answered(file, 'y', 'y')).toEqual(['done', { id: '0', blocks: [0, 1, 3], mode: false, edits }]);
  });

  test('can be answered with n later, and edited again from there', () => {
    const file = choice();
    file.answer('J');
    file.edit(small);
    expect(answered(file, 'g2', 'n')[1]).toBeNull();
    file.answer('g2');
    expect(file.answer('e')).toMatchObject({ hunk: { lines: [{ text: 't\n' }, { text: '\u00ff\n' }] } });
    expect(file.answer('s')).toEqual({ do: 'say', text: 'this cannot be split' });
    expect(file.prompt).not.toContain('s,');
    file.edit('-t\n+2\n');
    expect(file.pick?.edits).toEqual([{ blocks: [2], lines: lines('-t\n+2\n') }]);
    file.answer('g2');
    // The hunk is unchanged, so no content has to be sent.
    file.edit('-t\n+T\n');
    expect(file.pick).toEqual({ id: '0', blocks: [2], mode: false });
  });

  test('refuses lines that do not apply, and leaves the hunk undecided', () => {
    const file = choice();
    file.answer('J');
    expect(file.edit('-x\n+y\n')).toBeNull();
    expect(answered(file, 'q')[1]).toBeNull();
    expect(file.question).toMatchObject({ taken: null, original: null });
  });

  test('edits a split hunk, but not two parts that replace the same line', () => {
    const file = choice();
    file.answer('s');
    expect(file.edit('-a\n+1\n-b\n')).toEqual({ do: 'ask' });
    expect(file.edit('-b\n-c\n+2\n')).toBeNull();
    expect(file.edit(' b\n-c\n+2\n')).toEqual({ do: 'ask' });
    expect(file.pick?.edits).toEqual([
      { blocks: [0], lines: lines('-a\n+1\n-b\n') },
      { blocks: [1], lines: lines(' b\n-c\n+2\n') },
    ]);
  });

  test('cannot edit a mode, an addition or a hunk of more than 2 MiB', () => {
    const sorry = { do: 'say', text: 'Sorry, cannot edit this hunk' };
    const mode = choice(`diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/f\n+++ b/f\n${hunks}`);
    const added = choice('diff --git a/f b/f\nnew file mode 100644\n@@ -0,0 +1 @@\n+a\n', {
      status: 'A',
      divisible: false,
    });
    const large = choice(`${head}@@ -1 +1 @@\n-a\n+${'b'.repeat(2 * 1024 * 1024)}\n`);
    for (const file of [mode, added, large]) {
      expect(file.answer('e')).toEqual(sorry);
      expect(file.prompt).not.toContain(',e,');
    }
  });
});

test('a change of mode is its own question', () => {
  const file = choice(`diff --git a/f b/f\nold mode 100644\nnew mode 100755\n--- a/f\n+++ b/f\n${hunks}`);
  expect(file.question.what).toBe('mode change');
  expect(answered(file, 'y', 'd')).toEqual(['done', { id: '0', blocks: [], mode: true }]);
});

test('a file that cannot be divided is one question', () => {
  const file = choice(`diff --git a/f b/f\nnew file mode 100644\n@@ -0,0 +1 @@\n+a\n`, {
    status: 'A',
    divisible: false,
  });
  expect(file.prompt).toBe('(1/1) Take this addition [y,n,q,a,d,p,?]? ');
  expect(file.head).toContain('+a\n');
  expect(answered(file, 'y')).toEqual(['done', { id: '0' }]);
});

test('other keys change nothing', () => {
  const file = choice();
  for (const key of ['', 'x', 'E']) expect(file.answer(key).do).toBe('say');
  expect(file.answer('?')).toEqual({ do: 'say', text: help });
  expect(file.pick).toBeNull();
});
