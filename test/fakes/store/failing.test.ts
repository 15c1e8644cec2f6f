import { describe, expect, it } from 'vitest';
import { Fault } from '../../../src/model/fault.ts';
import { event, faultOf, storeConformance, user, userRow } from '../../conformance/store.ts';
import { failing } from './failing.ts';
import { createMemoryStore } from './memory.ts';

storeConformance('a failing store without faults', (options) => failing(createMemoryStore(options)));

const full = new Fault('exhausted', 'no room');
const locked = new Fault('unavailable', 'locked');

describe('a failing store', () => {
  it('fails the next call of a method, once, and changes nothing', () => {
    const store = failing(createMemoryStore());
    store.failNext('insert', full);
    expect(store.list('user')).toEqual([]);
    expect(faultOf(() => store.insert(userRow('a'), event('a')))).toBe(full);
    expect(store.lastSeq()).toBe(0);
    expect(store.insert(userRow('a'), event('a')).id).toBe('a');
  });

  it('consumes several faults in order, separately for each method', () => {
    const store = failing(createMemoryStore());
    store.failNext('get', full);
    store.failNext('list', locked);
    store.failNext('get', locked);
    expect(faultOf(() => store.get('user', 'a'))).toBe(full);
    expect(faultOf(() => store.get('user', 'a'))).toBe(locked);
    expect(store.get('user', 'a')).toBeNull();
    expect(faultOf(() => store.list('user'))).toBe(locked);
  });

  it('asks a verdict about each call and its arguments, until it is removed', () => {
    const store = failing(createMemoryStore(), (method, [kind]) =>
      method === 'list' && kind === 'user' ? full : null,
    );
    expect(faultOf(() => store.list('user'))).toBe(full);
    expect(faultOf(() => store.list('user'))).toBe(full);
    expect(store.list('sandbox')).toEqual([]);
    store.failWhen(null);
    expect(store.list('user')).toEqual([]);
  });

  it('shares its state with the inner store', () => {
    const within = createMemoryStore();
    const store = failing(within);
    const row = store.insert(userRow('a'), event('a'));
    within.update(row, user({ slot: 2 }), event('a'));
    expect(store.get('user', 'a')?.value.slot).toBe(2);
  });
});
