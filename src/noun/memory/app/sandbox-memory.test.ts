/** Tests which agent and session a note of a sandbox names. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openTestMemory, type TestMemory } from '../../../../test/fixtures/memory.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import { activeSession, type Sessions } from '../../session/session.ts';
import type { Memory } from '../memory.ts';
import { SandboxMemory } from './sandbox-memory.ts';
import { sandboxMemoryTools } from './tools.ts';

let opened: TestMemory;
let memory: Memory;
beforeEach(() => {
  opened = openTestMemory();
  memory = opened.memory;
});
afterEach(() => opened.remove());

describe('a note of a sandbox', () => {
  const holder = {
    ...{ id: 'b1', name: 'builder' },
    spec: {
      ...{ user: 'ann', project: '/shop', labels: { 'session-agent': 'claude' } },
      memoryScopes: [{ scope: 'project', readonly: false }],
    },
  } as unknown as Sandbox;
  const sessions = (...turns: readonly number[]) =>
    ({
      has: () => true,
      of: async () => ({
        copies: { list: () => turns.map((count, n) => ({ id: `s${n}`, fold: { turns: Array(count) } })) },
      }),
    }) as unknown as Sessions;
  const saveNote = (live: Sessions) =>
    new SandboxMemory({
      find: () => holder,
      tools: sandboxMemoryTools,
      sessionOf: (one) => activeSession(live, one),
      liveMemories: { open: async () => memory, embedder: () => null },
      report: () => {},
    }).call('b1', 'memory_save', { text: 'found out' });

  test('M5 names the agent and the session with the running turn', async () => {
    await saveNote(sessions(0, 1, 0));
    const [note] = await memory.list({ scopes: null, before: null, limit: 1 });
    expect(note?.by).toEqual({ kind: 'sandbox', name: 'builder', id: 'b1', agent: 'claude', session: 's1' });
  });

  test.each([[[0, 0]], [[1, 1]]])('M5 names no session if the turns are %j', async (turns) => {
    await saveNote(sessions(...turns));
    const [note] = await memory.list({ scopes: null, before: null, limit: 1 });
    expect(note?.by).toMatchObject({ agent: 'claude', session: null });
  });
});
