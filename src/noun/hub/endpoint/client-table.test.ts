import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Fault } from '../../../model/fault.ts';
import { ClientTable, type HubClient } from './client-table.ts';

let table: ClientTable;
beforeEach(() => {
  vi.useFakeTimers();
  table = new ClientTable({ perCaller: 2, total: 3, idleMs: 60_000 }, 1000);
});
afterEach(() => {
  table.close();
  vi.useRealTimers();
});

interface TestClient extends HubClient {
  isBusy: boolean;
  readonly close: ReturnType<typeof vi.fn<(reason: Fault) => void>>;
}

function added(name: string, check = () => {}): TestClient {
  const caller = { name, projects: '*' as const, groups: [] };
  const client = { identity: { user: 'ada', caller, check }, isBusy: false, usedAtMs: Date.now(), close: vi.fn() };
  table.add(client);
  vi.advanceTimersByTime(1);
  return client;
}

it('a client that is idle for too long is closed, and a busy one is not', () => {
  const [idle, busy] = [added('a'), added('a')];
  busy.isBusy = true;
  vi.advanceTimersByTime(60_000);
  expect(idle.close).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1000);
  expect(idle.close).toHaveBeenCalledWith(expect.objectContaining({ code: 'timeout' }));
  expect(busy.close).not.toHaveBeenCalled();
  expect(table.size).toBe(1);
});

it('at the limit of a token, its client that was idle longest is closed for the new one', () => {
  const [first, second, other] = [added('a'), added('a'), added('b')];
  added('a');
  expect(first.close).toHaveBeenCalledTimes(1);
  for (const client of [second, other]) expect(client.close).not.toHaveBeenCalled();
});

it('at the limit of a token, or of all tokens together, a new client is refused if all others are busy', () => {
  for (const client of [added('a'), added('a')]) client.isBusy = true;
  expect(() => added('a')).toThrow(/this token has 2 sessions/);
  added('b').isBusy = true;
  expect(() => added('c')).toThrow(/3 sessions are open/);
});

it('the clients of a token that is no longer valid are closed', () => {
  let isValid = true;
  const revoked = added('a', () => {
    if (!isValid) throw new Fault('unauthenticated', 'it was revoked');
  });
  const other = added('b');
  isValid = false;
  vi.advanceTimersByTime(1000);
  expect(revoked.close).toHaveBeenCalledWith(expect.objectContaining({ code: 'unauthenticated' }));
  expect(other.close).not.toHaveBeenCalled();
});
