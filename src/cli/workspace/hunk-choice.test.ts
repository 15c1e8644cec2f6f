import { expect, test } from 'vitest';
import type { OfferedView } from '../../api/workspace.ts';
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

test('a and d decide the rest of the file, and leave what was decided', () => {
  expect(answered(choice(), 'n', 'a')).toEqual(['done', { id: '0', blocks: [2, 3], mode: false }]);
  expect(answered(choice(), 'y', 'd')).toEqual(['done', { id: '0', blocks: [0, 1], mode: false }]);
  // An earlier hunk that is undecided is asked about again.
  expect(answered(choice(), 'j', 'a')).toEqual(['ask', { id: '0', blocks: [2, 3], mode: false }]);
});

test('q keeps what was taken, and leaves undecided hunks', () => {
  expect(answered(choice(), 'j', 'y', 'q')).toEqual(['quit', { id: '0', blocks: [2], mode: false }]);
});

test('j, J, k and K move, and are offered only where there is a hunk', () => {
  const file = choice();
  expect(file.prompt).toBe('(1/3) Take this hunk [y,n,q,a,d,j,J,g,/,s,p,?]? ');
  expect(file.answer('k')).toEqual({ do: 'say', text: 'no previous hunk' });
  file.answer('y');
  expect(file.prompt).toBe('(2/3) Take this hunk [y,n,q,a,d,j,J,K,g,/,p,?]? ');
  file.answer('K');
  expect(file.answer('n').do).toBe('ask');
  expect(answered(file, 'y', 'q')[1]).toEqual({ id: '0', blocks: [2], mode: false });
});

test('g lists the hunks with what was decided, and goes to one of them', () => {
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

test('a mode is a question of its own', () => {
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
  for (const key of ['', 'e', 'x']) expect(file.answer(key).do).toBe('say');
  expect(file.answer('?')).toEqual({ do: 'say', text: help });
  expect(file.pick).toBeNull();
});
