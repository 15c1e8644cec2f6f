import { expect, test } from 'vitest';
import { openSqlite } from './sqlite.ts';

/** Allocates many times what the youngest generation holds, so that V8 collects unreachable objects. */
function makeGarbage(): void {
  for (let round = 0; round < 200; round += 1) Array.from({ length: 20_000 }, (_, at) => ({ at }));
}

test('closed connections and used statements are not collected, which would end the process on newer Node', () => {
  for (let round = 0; round < 20; round += 1) {
    const db = openSqlite(':memory:');
    expect(db.pragma('user_version', { simple: true })).toBe(0);
    expect(db.pragma('user_version')).toEqual([{ user_version: 0 }]);
    expect(db.prepare('SELECT 1').pluck().get()).toBe(1);
    db.close();
  }
  makeGarbage();
});
