/** How a message wakes the agent in a sandbox. */
import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { createMemoryStore } from '../../../../../test/fakes/store/memory.ts';
import { sampleSpec } from '../../../../../test/fixtures/sandbox.ts';
import type { Process } from '../../../../kernel/engine/engine.ts';
import type { Row } from '../../../../kernel/store/store.ts';
import { initialStatus, type SandboxState } from '../../../sandbox/model.ts';
import { FakeRoom } from '../../fake.ts';
import type { RoomWatch } from '../../model/watch.ts';
import { RoomWatchers } from './room-watchers.ts';

const at = '2026-11-16T12:00:00.000Z';
const event = { at, type: 'test', subject: '', data: {} };

/** What is done until the first message is handled. */
async function woken(first: SandboxState): Promise<string[]> {
  const [store, room, done] = [createMemoryStore(), new FakeRoom(), [] as string[]];
  const record = { name: 'team', owner: 'ada', folder: '/team', isElsewhere: false, createdAt: at, retention: null };
  store.insert({ kind: 'room', id: 'r', owner: 'ada', name: 'team', value: record }, event);
  const value: RoomWatch = {
    ...{ room: 'r', who: 'bot', action: { kind: 'wake', argv: ['agent'] }, isForAll: true, createdAt: at },
    ...{ paused: null, position: null, delivery: null, handled: 0, failed: 0, wakes: [] },
  };
  store.insert({ kind: 'roomWatch', id: 'w', owner: 'ada', name: 'r/bot', value }, event);
  let state = first;
  const watchers = new RoomWatchers({
    ...{ store, now: () => at, report: () => {}, makeScratch: () => '', secret: () => Buffer.alloc(0) },
    openRoom: async () => room as never,
    startIn: async ({ name, status }, command) => {
      done.push(`${command} in ${name}, which is ${status.state}`);
      const [stdout, stderr] = [Readable.from([Buffer.from('the answer')]), Readable.from([])];
      const exited = new Promise((resolve) => stdout.on('end', () => resolve({ exitCode: 0 })));
      return {
        stdin: new PassThrough().resume(),
        stdout,
        stderr,
        exited,
        signal: async () => {},
      } as unknown as Process;
    },
    scopeOf: (user) => ({
      sandboxes: {
        current: async (name) =>
          ({
            value: { id: 'b', name, createdAt: at, spec: sampleSpec, status: { ...initialStatus, state } },
          }) as Row<'sandbox'>,
        start: async (name) => {
          done.push(`start ${name} of ${user}`);
          state = 'running';
          return {} as never;
        },
      },
      commands: { ended: async ({ name }) => void done.push(`look at ${name}`) },
    }),
  });
  const handled = new Promise<void>((resolve) => {
    store.subscribe(() => store.get('roomWatch', 'w')?.value.handled === 1 && resolve());
  });
  watchers.start();
  await room.post({ from: { kind: 'person', name: 'ada' }, via: 'cli', body: 'hello' });
  await handled;
  await watchers.dispose();
  return [...done, room.messages[1]!.body];
}

const inside = ['agent in bot, which is running', 'look at bot', 'the answer'];

test('the agent is started in the sandbox that runs, and what it changed is recorded', async () => {
  expect(await woken('running')).toEqual(inside);
});

test('a sandbox that has ended is started first', async () => {
  expect(await woken('completed')).toEqual(['start bot of ada', ...inside]);
});
