import { expect, it } from 'vitest';
import { Texts } from './texts.ts';

function open(text = 'a\nb') {
  const reads: string[] = [];
  const files = new Map<string, string>();
  const read = (path: string) => {
    reads.push(path);
    return { path, text: files.get(path) ?? text, hash: '' };
  };
  return { reads, files, texts: new Texts(read, (path) => !path.startsWith('node_modules/')) };
}

it('Texts reads a file once until it changes', () => {
  const { texts, reads, files } = open();
  expect([texts.lines('a.ts'), texts.lines('a.ts'), texts.lines('b.ts')]).toEqual(Array(3).fill(['a', 'b']));
  expect(reads).toEqual(['a.ts', 'b.ts']);
  files.set('a.ts', 'new');
  texts.drop(['a.ts']);
  expect(texts.lines('a.ts')).toEqual(['new']);
  expect(texts.lines('b.ts')).toEqual(['a', 'b']);
  expect(reads).toEqual(['a.ts', 'b.ts', 'a.ts']);
});

it('Texts reads a file that is not watched each time', () => {
  const { texts, reads } = open();
  texts.lines('node_modules/a.ts');
  texts.lines('node_modules/a.ts');
  expect(reads).toHaveLength(2);
});

it('Texts keeps no more text than its limit, and no large file', () => {
  const { texts, reads } = open('x'.repeat(1024 * 1024));
  for (let count = 0; count < 16; count += 1) texts.lines(`${count}`);
  texts.lines('0');
  expect(reads).toHaveLength(16);
  texts.lines('16');
  texts.lines('0');
  expect(reads).toHaveLength(18);
  const large = open('x'.repeat(1024 * 1024 + 1));
  large.texts.lines('a');
  large.texts.lines('a');
  expect(large.reads).toHaveLength(2);
});
