import { expect, it } from 'vitest';
import { FairTurns } from './fair-turns.ts';

it('all waiting tasks continue in order, a few in each turn of the event loop', async () => {
  const turns = new FairTurns();
  const order: string[] = [];
  const tasks = Array.from({ length: 40 }, (_, n) => turns.next().then(() => order.push(String(n))));
  let turn = 0;
  const look = () => {
    order.push(`turn ${turn}`);
    turn += 1;
    if (turn < 4) setImmediate(look);
  };
  setImmediate(look);
  await Promise.all(tasks);
  expect(order.filter((one) => !one.startsWith('turn'))).toEqual(Array.from({ length: 40 }, (_, n) => String(n)));
  expect(order.indexOf('turn 1')).toBeLessThan(order.indexOf('39'));
  await turns.next();
});
