import { expect, test } from 'vitest';
import { readPosted } from './front-matter.ts';

const id = '01JD8Q4Y000000000000000000';

test('R7: reply_to is read, every other field is dropped', () => {
  const text = `---\nfrom: boss\nmentions: [a, b]\nreply_to: "${id}"\n---\nbody\n---\n`;
  expect(readPosted(text)).toEqual({ body: 'body\n---\n', replyTo: id });
});

test('R7: a reply_to that is no id is dropped', () => {
  expect(readPosted('---\nreply_to: ../../x\n---\nbody')).toEqual({ body: 'body', replyTo: null });
});

test.each([
  ['no front matter', 'hello'],
  ['no end', `---\nreply_to: ${id}\nhello`],
  ['no fields', '---\n---\nhello'],
  ['another field', `---\ntitle: page\nreply_to: ${id}\n---\nhello`],
  ['aliases of YAML', '---\nfrom: &a [*a]\n<<: *a\n---\nhello'],
  ['an end beyond 4 KiB', `---\n${'from: x\n'.repeat(1000)}---\nhello`],
])('a text with %s is posted as it is', (_, text) => {
  expect(readPosted(text)).toEqual({ body: text, replyTo: null });
});
