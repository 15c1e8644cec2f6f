import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { CallerLimit } from './caller-limit.ts';

it('the connections of each caller are limited separately, and a closed connection frees a place', () => {
  const limit = new CallerLimit(2);
  const first = new EventEmitter();
  limit.take('ada', first);
  limit.take('ada', new EventEmitter());
  expect(() => limit.take('ada', new EventEmitter())).toThrow('this token has 2 connections open');
  limit.take('bob', new EventEmitter());
  first.emit('close');
  limit.take('ada', new EventEmitter());
});
