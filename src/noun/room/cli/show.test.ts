import { expect, it } from 'vitest';
import { Output } from '../../../client/output/output.ts';
import type { RoomDetailView } from '../api.ts';
import { description } from './show.ts';

const now = Date.parse('2026-11-16T12:00:00.000Z');
const out = new Output(false, { write: () => {} });
const view: RoomDetailView = {
  ...{ name: 'plans', user: 'ann', folder: '/srv/plans', createdAt: '2026-11-16T11:00:00.000Z', retention: null },
  ...{ messages: 2, archived: 0, refused: 0, watch: 'inotify', lastId: null, unread: 1, trouble: null },
  ...{ members: [], last: null, repaired: 0, webhooks: [] },
};
const lines = (change: Partial<RoomDetailView>) => description({ ...view, ...change }, out, now);

it('room show says that a room is polled only if its filesystem does not report changes', () => {
  expect(lines({ watch: 'polling' })).toContain('watched   by polling: its filesystem does not report changes');
  expect(lines({}).join()).not.toContain('watched');
});

it('room show prints when a member last posted or read', () => {
  const member = { position: null, unread: 0, inbox: null };
  const members: RoomDetailView['members'] = [
    { ...member, name: 'bob', kind: 'sandbox', lastPostAt: '2026-11-16T11:00:00.000Z', lastReadAt: null },
    {
      ...{ ...member, name: 'eve', kind: 'person' },
      ...{ lastPostAt: '2026-11-16T11:00:00.000Z', lastReadAt: '2026-11-16T11:58:00.000Z' },
    },
    { ...member, name: 'zoe', kind: null, lastPostAt: null, lastReadAt: null },
  ];
  expect(lines({ members }).slice(-3)).toEqual([
    'members   bob (sandbox, active 1h ago)',
    '          eve (person, active 2m ago)',
    '          zoe (mentioned)',
  ]);
});
