import { expect, test } from 'vitest';
import { Form } from './form.ts';
import { keysOf } from './question-text.ts';

function form(properties: Record<string, unknown>, required = Object.keys(properties)): Form {
  return new Form({ pendingId: 'q', kind: 'question', title: 'T', schema: { type: 'object', properties, required } });
}

test('the form asks for one field after the other and checks its type', () => {
  const asked = form({
    name: { type: 'string', title: 'Name' },
    age: { type: 'integer', title: 'Age' },
    sure: { type: 'boolean', title: 'Sure?' },
  });
  expect(asked.prompt).toBe('Name');
  expect(asked.take('')).toBe('type an answer');
  expect(asked.take(' Ada ')).toBeNull();
  expect(asked.prompt).toBe('Age');
  expect(asked.take('old')).toBe('type a number');
  expect(asked.take('36')).toBeNull();
  expect(asked.prompt).toBe('Sure? [y/n]');
  expect(asked.take('maybe')).toBe('type y or n');
  expect(asked.take('y')).toBeNull();
  expect(asked.prompt).toBeNull();
  expect(asked.content).toEqual({ name: 'Ada', age: 36, sure: true });
});

test('a choice is answered by its text or its number', () => {
  for (const line of ['blue', '2']) {
    const asked = form({ colour: { type: 'string', enum: ['red', 'blue'] } });
    expect(asked.prompt).toBe('colour [1 red, 2 blue]');
    expect(asked.take('3')).toBe('type one of the choices, or its number');
    expect(asked.take(line)).toBeNull();
    expect(asked.content).toEqual({ colour: 'blue' });
  }
});

test('one key answers with the number of a choice, unless choices begin with digits', () => {
  expect(form({ colour: { enum: ['red', 'blue'] } }).isKey('2')).toBe(true);
  expect(form({ colour: { enum: ['red', 'blue'] } }).isKey('3')).toBe(false);
  expect(form({ size: { enum: ['10', '20'] } }).isKey('1')).toBe(false);
  expect(form({ name: { type: 'string' } }).isKey('1')).toBe(false);
});

test('an empty line skips an optional field', () => {
  const asked = form({ note: { type: 'string' } }, []);
  expect(asked.take('')).toBeNull();
  expect(asked.content).toEqual({});
});

test('the key of an option is the letter of its kind, or a number', () => {
  const options = [
    { id: 'a', name: 'Allow', kind: 'allow_once' },
    { id: 'b', name: 'Allow too', kind: 'allow_once' },
    { id: 'c', name: 'Other' },
  ];
  const keys = keysOf({ pendingId: 'q', kind: 'permission', title: 'T', options });
  expect([...keys].map(([key, { id }]) => [key, id])).toEqual([
    ['y', 'a'],
    ['2', 'b'],
    ['3', 'c'],
  ]);
});
