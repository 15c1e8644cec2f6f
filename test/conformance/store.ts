/** What every store promises, sentence by sentence of `src/kernel/store/store.ts`. Each test gets an empty store of its own. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { NewRow, Row, Store, StoreOptions } from '../../src/kernel/store/store.ts';
import type { Event, NewEvent } from '../../src/model/event.ts';
import { Fault, type FaultCode } from '../../src/model/fault.ts';
import type { User } from '../../src/model/user.ts';

const at = '2025-01-01T00:00:00.000Z';

export function userRow(id: string, change: Partial<NewRow<'user'>> = {}): NewRow<'user'> {
  return { kind: 'user', id, owner: 'root', name: `name-${id}`, value: user(), ...change };
}

export function user(change: Partial<User> = {}): User {
  return { name: 'ada', slot: 1, createdAt: at, ...change };
}

export function event(subject: string, data: NewEvent['data'] = {}): NewEvent {
  return { at, type: 'user.changed', subject, data };
}

export function faultOf(work: () => unknown): Fault {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('expected a Fault, but nothing was thrown');
}

function codeOf(work: () => unknown): FaultCode {
  return faultOf(work).code;
}

function subjects(events: readonly Event[]): string[] {
  return events.map(({ subject }) => subject);
}

export function storeConformance(name: string, open: (options?: StoreOptions) => Store): void {
  describe(`${name} keeps the contract of a store`, () => {
    let store: Store;
    beforeEach(() => {
      store = open();
    });
    afterEach(() => store.close());

    const add = (id: string, change: Partial<NewRow<'user'>> = {}) => store.insert(userRow(id, change), event(id));
    const ids = () => store.list('user').map(({ id }) => id);

    /** The state that a refused write must not change. */
    const snapshot = () => JSON.stringify([store.list('user'), store.events(0, 1000), store.lastSeq()]);
    function refused(work: () => unknown): Fault {
      const before = snapshot();
      const heard: Event[] = [];
      const stop = store.subscribe((each) => heard.push(each));
      const fault = faultOf(work);
      stop();
      expect(snapshot()).toBe(before);
      expect(heard).toEqual([]);
      return fault;
    }

    describe('the rows of a kind', () => {
      it('are none at first', () => {
        expect(store.list('user')).toEqual([]);
        expect(store.get('user', 'a')).toBeNull();
        expect(store.find('user', 'root', 'name-a')).toBeNull();
        expect(store.events(0, 10)).toEqual([]);
        expect(store.lastSeq()).toBe(0);
      });

      it('are found after an insert, by id, by name and in the list', () => {
        const row = add('a');
        expect(row).toEqual({ ...userRow('a'), revision: expect.any(Number) });
        expect(store.get('user', 'a')).toEqual(row);
        expect(store.find('user', 'root', 'name-a')).toEqual(row);
        expect(store.list('user')).toEqual([row]);
        expect([store.count('user'), store.count('sandbox')]).toEqual([1, 0]);
      });

      it('get a new value and a greater revision by an update, and nothing else', () => {
        const first = add('a');
        const second = store.update(first, user({ slot: 2 }), event('a'));
        const third = store.update(second, user({ slot: 3 }), event('a'));
        expect(second.revision).toBeGreaterThan(first.revision);
        expect(third.revision).toBeGreaterThan(second.revision);
        expect(third).toEqual({ ...first, revision: third.revision, value: user({ slot: 3 }) });
        expect(store.get('user', 'a')).toEqual(third);
      });

      it('keep the stored owner and name in an update, whatever the caller passes', () => {
        const row = add('a');
        const updated = store.update({ ...row, owner: 'eve', name: 'other' }, user({ slot: 2 }), event('a'));
        expect(updated).toMatchObject({ owner: 'root', name: 'name-a' });
        expect(store.get('user', 'a')).toEqual(updated);
      });

      it('are gone after a removal, and their id and name are free again', () => {
        store.remove(add('a'), event('a'));
        expect(store.get('user', 'a')).toBeNull();
        expect(store.find('user', 'root', 'name-a')).toBeNull();
        expect(store.list('user')).toEqual([]);
        expect(add('a')).toEqual(store.get('user', 'a'));
      });

      it('are listed in the order of insertion, whatever is updated or removed', () => {
        const [c, a] = ['c', 'a', 'd', 'b'].map((id) => add(id));
        store.update(c!, user({ slot: 9 }), event('c'));
        expect(ids()).toEqual(['c', 'a', 'd', 'b']);
        store.remove(a!, event('a'));
        add('a');
        expect(ids()).toEqual(['c', 'd', 'b', 'a']);
      });

      it('are listed and counted by owner, in the same order', () => {
        add('c', { owner: 'eve' });
        add('b');
        add('a', { owner: 'eve' });
        expect(store.list('user', 'eve').map(({ id }) => id)).toEqual(['c', 'a']);
        expect([store.count('user', 'eve'), store.count('user', 'root'), store.count('user')]).toEqual([2, 1, 3]);
        expect([store.list('sandbox', 'eve'), store.count('sandbox', 'eve')]).toEqual([[], 0]);
      });

      it('are separate from those of other kinds', () => {
        add('a');
        expect(store.get('sandbox', 'a')).toBeNull();
        expect(store.find('sandbox', 'root', 'name-a')).toBeNull();
        expect(store.list('sandbox')).toEqual([]);
        const value = { id: 'a' } as Row<'sandbox'>['value'];
        store.insert({ kind: 'sandbox', id: 'a', owner: 'root', name: 'name-a', value }, event('a'));
        expect(store.get('sandbox', 'a')?.value).toEqual({ id: 'a' });
        expect(store.get('user', 'a')?.value).toEqual(user());
      });
    });

    describe('refusals change nothing and make no event', () => {
      it('refuses a taken id', () => {
        add('a');
        const fault = refused(() => add('a', { name: 'fresh' }));
        expect(fault.code).toBe('conflict');
        expect(fault.message).toMatch(/fresh.*"a"/);
      });

      it('refuses a taken name of the same owner and says which', () => {
        add('a', { name: 'web' });
        const fault = refused(() => add('b', { name: 'web' }));
        expect(fault.code).toBe('conflict');
        expect(fault.message).toContain('web');
      });

      it('takes the same name for another owner', () => {
        const mine = add('a', { name: 'web' });
        const theirs = add('b', { name: 'web', owner: 'eve' });
        expect(store.find('user', 'root', 'web')).toEqual(mine);
        expect(store.find('user', 'eve', 'web')).toEqual(theirs);
      });

      it('tells names apart by every character', () => {
        for (const [index, text] of ['web', 'Web', 'web ', 'wéb', 'we\u0301b', 'we', ''].entries()) {
          add(`${index}`, { name: text });
          expect(store.find('user', 'root', text)?.id).toBe(`${index}`);
        }
      });

      it('refuses an update and a removal when another write came first', () => {
        const stale = add('a');
        const current = store.update(stale, user({ slot: 2 }), event('a'));
        expect(refused(() => store.update(stale, user({ slot: 3 }), event('a'))).code).toBe('conflict');
        expect(refused(() => store.remove(stale, event('a'))).code).toBe('conflict');
        expect(store.get('user', 'a')).toEqual(current);
      });

      it('refuses an update and a removal of a row that is gone or never was', () => {
        const row = add('a');
        store.remove(row, event('a'));
        for (const absent of [row, { ...row, id: 'never' }]) {
          expect(refused(() => store.update(absent, user(), event('a'))).code).toBe('not_found');
          expect(refused(() => store.remove(absent, event('a'))).code).toBe('not_found');
        }
      });

      it('refuses a row from before a removal when the id was taken again', () => {
        const old = add('a');
        store.remove(old, event('a'));
        add('a');
        expect(refused(() => store.update(old, user({ slot: 2 }), event('a'))).code).toBe('conflict');
        expect(refused(() => store.remove(old, event('a'))).code).toBe('conflict');
      });

      it('refuses a value or event data that is not JSON', () => {
        const row = add('a');
        const circle: Record<string, unknown> = {};
        circle.self = circle;
        refused(() => store.update(row, circle as unknown as User, event('a')));
        refused(() => store.update(row, user(), event('a', circle)));
        refused(() => store.insert(userRow('b', { value: circle as unknown as User }), event('b')));
        refused(() => store.remove(row, event('a', circle)));
      });

      it('accepts a write after a refusal', () => {
        add('a');
        refused(() => add('a'));
        expect(add('b').id).toBe('b');
      });
    });

    describe('events', () => {
      it('stores one event a write, as given, with a growing seq', () => {
        const row = store.insert(userRow('a'), { at: 'then', type: 'user.created', subject: 'x', data: { n: [1] } });
        store.remove(store.update(row, user(), event('a')), event('a'));
        const events = store.events(0, 10);
        expect(events[0]).toEqual({
          seq: events[0]!.seq,
          at: 'then',
          type: 'user.created',
          subject: 'x',
          data: { n: [1] },
        });
        expect(events).toHaveLength(3);
        expect(events[1]!.seq).toBeGreaterThan(events[0]!.seq);
        expect(events[2]!.seq).toBeGreaterThan(events[1]!.seq);
        expect(store.lastSeq()).toBe(events[2]!.seq);
      });

      it('replays from any seq, oldest first, up to the limit', () => {
        for (const id of ['a', 'b', 'c', 'd']) add(id);
        const all = store.events(0, 100);
        expect(subjects(all)).toEqual(['a', 'b', 'c', 'd']);
        for (const [index, { seq }] of all.entries()) expect(store.events(seq, 100)).toEqual(all.slice(index + 1));
        expect(store.events(all[0]!.seq, 2)).toEqual(all.slice(1, 3));
        expect(store.events(-5, Number.POSITIVE_INFINITY)).toEqual(all);
        expect(store.events(0, 0)).toEqual([]);
        expect(store.events(0, -1)).toEqual([]);
        expect(store.events(store.lastSeq() + 5, 10)).toEqual([]);
      });

      it('never gives a seq twice, not even after everything is removed', () => {
        store.remove(add('a'), event('a'));
        const last = store.lastSeq();
        add('a');
        expect(store.lastSeq()).toBeGreaterThan(last);
      });

      it('are kept up to a limit, the newest of them, and firstSeq says where they begin', () => {
        expect(store.firstSeq()).toBe(1);
        const small = open({ maxEvents: 1000 });
        try {
          let row = small.insert(userRow('a'), event('a'));
          for (let slot = 0; slot < 1499; slot += 1)
            row = small.update(row, user({ slot }), event('a', { slot }), { lazy: true });
          const kept = small.events(0, Number.POSITIVE_INFINITY);
          expect(kept.length).toBeLessThanOrEqual(1000);
          expect(kept.length).toBeGreaterThanOrEqual(900);
          expect(kept.at(-1)).toMatchObject({ seq: small.lastSeq(), data: { slot: 1498 } });
          expect(kept[0]!.seq).toBe(small.lastSeq() - kept.length + 1);
          expect(small.firstSeq()).toBe(kept[0]!.seq);
          expect(small.get('user', 'a')).toEqual(row);
        } finally {
          small.close();
        }
      });
    });

    describe('subscribe', () => {
      it('calls back after each write, in order, with the event as stored', () => {
        const heard: Event[] = [];
        store.subscribe((each) => {
          expect(store.lastSeq()).toBe(each.seq);
          heard.push(each);
        });
        const row = add('a');
        add('b');
        store.update(row, user({ slot: 2 }), event('c', { n: 1 }));
        expect(heard).toEqual(store.events(0, 10));
        expect(subjects(heard)).toEqual(['a', 'b', 'c']);
      });

      it('shows a listener the row already written', () => {
        let seen: Row<'user'> | null = null;
        store.subscribe(({ subject }) => {
          seen = store.get('user', subject);
        });
        expect(add('a')).toEqual(seen);
      });

      it('unsubscribing stops only that subscription, and may be repeated', () => {
        const heard: string[] = [];
        const listener = ({ subject }: Event) => void heard.push(subject);
        const stop = store.subscribe(listener);
        store.subscribe(listener);
        add('a');
        stop();
        stop();
        add('b');
        expect(heard).toEqual(['a', 'a', 'b']);
      });

      it('keeps the order of events for all listeners when a listener writes', () => {
        const heard: [string, string][] = [];
        store.subscribe(({ subject }) => {
          heard.push(['first', subject]);
          if (subject === 'a') add('b');
        });
        store.subscribe(({ subject }) => void heard.push(['second', subject]));
        add('a');
        expect(heard).toEqual([
          ['first', 'a'],
          ['second', 'a'],
          ['first', 'b'],
          ['second', 'b'],
        ]);
      });

      it('gives a new listener no earlier event', () => {
        const heard: string[] = [];
        const stop = store.subscribe(({ subject }) => {
          if (subject !== 'a') return;
          add('b');
          store.subscribe((each) => void heard.push(each.subject));
        });
        add('a');
        stop();
        add('c');
        expect(heard).toEqual(['c']);
      });

      it('calls the other listeners when one throws, and warns', () => {
        const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
        const heard: string[] = [];
        store.subscribe(() => {
          throw new Error('a broken listener');
        });
        store.subscribe(({ subject }) => void heard.push(subject));
        expect(add('a')).toEqual(store.get('user', 'a'));
        add('b');
        expect(heard).toEqual(['a', 'b']);
        expect(warn.mock.calls.map(([text]) => text)).toEqual(
          Array(2).fill(expect.stringContaining('a broken listener')),
        );
        warn.mockRestore();
      });

      it('may be closed by a listener', () => {
        const heard: string[] = [];
        store.subscribe(() => store.close());
        store.subscribe(({ subject }) => void heard.push(subject));
        expect(add('a').id).toBe('a');
        expect(heard).toEqual([]);
        expect(codeOf(() => store.lastSeq())).toBe('unavailable');
      });
    });

    describe('values', () => {
      it('are not changed by callers that change their objects later', () => {
        const value = { ...user(), tags: ['x'] };
        const data = { deep: { n: 1 } };
        const row = store.insert(userRow('a', { value }), event('a', data));
        value.tags.push('y');
        data.deep.n = 2;
        scribble(row.value);
        scribble(store.get('user', 'a')?.value);
        scribble(store.list('user')[0]?.value);
        scribble(store.events(0, 1)[0]?.data);
        expect(store.get('user', 'a')?.value).toEqual({ ...user(), tags: ['x'] });
        expect(store.events(0, 1)[0]?.data).toEqual({ deep: { n: 1 } });
      });

      it('are isolated after an update and between listeners', () => {
        const value = { ...user(), tags: ['x'] };
        store.subscribe((each) => scribble(each.data));
        const heard: unknown[] = [];
        store.subscribe((each) => void heard.push(each.data));
        const row = store.update(add('a'), value, event('a', { n: 1 }));
        value.tags.push('y');
        scribble(row.value);
        expect(store.get('user', 'a')?.value).toEqual({ ...user(), tags: ['x'] });
        expect(heard.at(-1)).toEqual({ n: 1 });
        expect(store.events(0, 10).at(-1)?.data).toEqual({ n: 1 });
      });

      it('are what JSON holds: undefined becomes absent', () => {
        const value = { ...user(), gone: undefined, none: null };
        const row = store.insert(userRow('a', { value }), event('a', { gone: undefined, none: null }));
        expect(Object.keys(row.value)).not.toContain('gone');
        expect(row.value).toMatchObject({ none: null });
        expect(row).toStrictEqual(store.get('user', 'a'));
        expect(store.events(0, 1)[0]?.data).toStrictEqual({ none: null });
      });

      it('hold any text', () => {
        const text = 'żółć 漢字 👩‍👩‍👧 \u0000 \u001b[31m \u2028 \ud800 "\'\\ \r\n';
        const row = add('a', { name: 'żółć 漢字 👩‍👩‍👧', value: user({ name: text }) });
        expect(row.value.name).toBe(text);
        expect(store.find('user', 'root', 'żółć 漢字 👩‍👩‍👧')).toEqual(row);
        store.update(row, user(), event('b', { text }));
        expect(store.events(0, 10).at(-1)?.data).toEqual({ text });
      });

      it('hold a megabyte', () => {
        const big = 'é'.repeat(1024 ** 2 / 2);
        const row = store.insert(userRow('a', { value: user({ name: big }) }), event('a', { big }));
        expect(store.get('user', 'a')?.value.name === big).toBe(true);
        expect(store.events(0, 1)[0]?.data.big === big).toBe(true);
        expect(store.update(row, user(), event('a')).value).toEqual(user());
      });
    });

    describe('lazy writes', () => {
      it('are on the disk when they are flushed', async () => {
        store.insert(userRow('a'), event('a'), { lazy: true });
        await Promise.all([store.flushed(), store.flushed()]);
        store.close();
        await expect(store.flushed()).rejects.toMatchObject({ code: 'unavailable' });
      });

      it('are visible to the process like other writes', () => {
        const lazy = { lazy: true };
        const heard: string[] = [];
        store.subscribe(({ subject }) => void heard.push(subject));
        const row = store.insert(userRow('a'), event('a'), lazy);
        const current = store.update(row, user({ slot: 2 }), event('b'), lazy);
        expect(store.get('user', 'a')).toEqual(current);
        expect(refused(() => store.update(row, user(), event('a'), lazy)).code).toBe('conflict');
        store.remove(current, event('c'), lazy);
        expect(store.list('user')).toEqual([]);
        expect(heard).toEqual(['a', 'b', 'c']);
        expect(subjects(store.events(0, 10))).toEqual(heard);
      });
    });

    describe('a close', () => {
      it('may be repeated, and makes every later call unavailable', () => {
        const row = add('a');
        const stop = store.subscribe(() => {});
        store.close();
        store.close();
        const calls: (() => unknown)[] = [
          () => store.get('user', 'a'),
          () => store.find('user', 'root', 'name-a'),
          () => store.list('user'),
          () => add('b'),
          () => store.update(row, user(), event('a')),
          () => store.remove(row, event('a')),
          () => store.events(0, 1),
          () => store.lastSeq(),
          () => store.subscribe(() => {}),
        ];
        for (const call of calls) expect(codeOf(call)).toBe('unavailable');
        stop();
      });
    });
  });
}

/** Changes an object as a careless caller would. */
function scribble(target: unknown): void {
  const object = target as Record<string, unknown>;
  for (const value of Object.values(object)) if (typeof value === 'object' && value !== null) scribble(value);
  try {
    object.scribbled = true;
  } catch {
    // A frozen object is isolated too.
  }
}
