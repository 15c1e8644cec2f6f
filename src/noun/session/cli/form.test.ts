import { expect, test } from 'vitest';
import { Form } from './form.ts';
import { keysOf } from './question-text.ts';

function formOf(properties: Record<string, unknown>, required = Object.keys(properties)): Form {
  return new Form({ pendingId: 'q', kind: 'question', title: 'T', schema: { type: 'object', properties, required } });
}

test('the form asks for one field after the other and checks its type', () => {
  const form = formOf({
    name: { type: 'string', title: 'Name' },
    age: { type: 'integer', title: 'Age' },
    sure: { type: 'boolean', title: 'Sure?' },
  });
  expect(form.prompt).toBe('Name');
  expect(form.take('')).toBe('type an answer');
  expect(form.take(' Ada ')).toBeNull();
  expect(form.prompt).toBe('Age');
  expect(form.take('old')).toBe('type a number');
  expect(form.take('36')).toBeNull();
  expect(form.prompt).toBe('Sure? [y/n]');
  expect(form.take('maybe')).toBe('type y or n');
  expect(form.take('y')).toBeNull();
  expect(form.prompt).toBeNull();
  expect(form.content).toEqual({ name: 'Ada', age: 36, sure: true });
});

test('a choice is answered by its text or its number', () => {
  for (const line of ['blue', '2']) {
    const form = formOf({ colour: { type: 'string', enum: ['red', 'blue'] } });
    expect(form.prompt).toBe('colour [1 red, 2 blue]');
    expect(form.take('3')).toBe('type one of the choices, or its number');
    expect(form.take(line)).toBeNull();
    expect(form.content).toEqual({ colour: 'blue' });
  }
});

test('one key answers with the number of a choice, unless choices begin with digits', () => {
  expect(formOf({ colour: { enum: ['red', 'blue'] } }).isKey('2')).toBe(true);
  expect(formOf({ colour: { enum: ['red', 'blue'] } }).isKey('3')).toBe(false);
  expect(formOf({ size: { enum: ['10', '20'] } }).isKey('1')).toBe(false);
  expect(formOf({ name: { type: 'string' } }).isKey('1')).toBe(false);
});

test('an empty line skips an optional field', () => {
  const form = formOf({ note: { type: 'string' } }, []);
  expect(form.take('')).toBeNull();
  expect(form.content).toEqual({});
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
