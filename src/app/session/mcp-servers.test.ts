import { expect, test } from 'vitest';
import { sampleSpec } from '../../../test/fixtures/sandbox.ts';
import { mcpServersOf } from './mcp-servers.ts';

test('the agents of a sandbox with rooms get the server of rooms, others get none', () => {
  const spec = sampleSpec;
  expect(mcpServersOf({ spec })).toEqual([]);
  const rooms = [{ name: 'team', folder: '/rooms/team', readonly: false }];
  expect(mcpServersOf({ spec: { ...spec, rooms } })).toEqual([
    { name: 'rooms', command: '/opt/carrel/bin/carrel-room', args: ['mcp'], env: [] },
  ]);
});
