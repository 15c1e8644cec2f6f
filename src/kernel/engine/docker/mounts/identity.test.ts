import { describe, expect, it } from 'vitest';
import { Fault } from '../../../../model/fault.ts';
import { type IdentityInput, identityFor, ownIdentity } from './identity.ts';

const plain = { shift: null, rootless: false };
const input = (overrides: Partial<IdentityInput> = {}): IdentityInput => ({
  slot: 0,
  facts: plain,
  self: null,
  ...overrides,
});
const first = 0x7000_0000 + 1000;
const folder = (uid: number, gid = uid, path = `/home/${uid}`) => ({ path, owner: { uid, gid } });

function refused(work: () => unknown): Fault {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error('expected a Fault');
}

describe('the id of agent', () => {
  it.each([
    [0, first],
    [1, first + 65_536],
  ])('of user number %i is %i if no folder with another owner is mounted, as in the embedded engine', (slot, id) => {
    const agent = { uid: id, gid: id };
    expect(identityFor([], input({ slot }))).toEqual({ inside: agent, outside: agent });
    expect(ownIdentity(input({ slot }))).toEqual({ inside: agent, outside: agent });
  });

  it('is the owner of the folders', () => {
    const { inside, outside } = identityFor([folder(1234, 55), folder(1234, 66)], input());
    expect([inside, outside]).toEqual([
      { uid: 1234, gid: 55 },
      { uid: 1234, gid: 55 },
    ]);
  });

  it('is never root, and its group is never that of root', () => {
    expect(identityFor([folder(1234, 0)], input()).inside).toEqual({ uid: 1234, gid: 1234 });
    const fault = refused(() => identityFor([folder(1234), folder(0, 0, '/srv/root')], input()));
    expect([fault.code, fault.message, fault.hint]).toEqual([
      'unsupported',
      expect.stringContaining('/srv/root'),
      expect.stringContaining('--engine local'),
    ]);
  });

  it('is refused for folders of two owners', () => {
    expect(refused(() => identityFor([folder(1), folder(2)], input())).code).toBe('unsupported');
  });

  it('is that of the person who runs the daemon without privileges', () => {
    const self = { uid: 1500, gid: 1500 };
    expect(identityFor([], input({ self })).inside).toEqual(self);
  });

  it('cannot be mapped in an engine without privileges', () => {
    expect(refused(() => identityFor([], input({ facts: { ...plain, rootless: true } }))).code).toBe('unsupported');
  });

  it('is shifted by an engine that shifts ids, and then owns only folders of that id', () => {
    const shift = { uid: 100_000, gid: 200_000 };
    expect(identityFor([folder(101_000)], input({ facts: { ...plain, shift } }))).toEqual({
      inside: { uid: 1000, gid: 1000 },
      outside: { uid: 101_000, gid: 201_000 },
    });
    expect(ownIdentity(input({ slot: 2, facts: { ...plain, shift } }))).toEqual({
      inside: { uid: 1002, gid: 1002 },
      outside: { uid: 101_002, gid: 201_002 },
    });
    expect(refused(() => identityFor([folder(1000)], input({ facts: { ...plain, shift } }))).code).toBe('unsupported');
  });
});
