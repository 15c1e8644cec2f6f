import { expect, test } from 'vitest';
import type { SwarmMessage } from '../model/message.ts';
import { encodeMessage } from '../model/message-line.ts';
import { type LogEntry, SwarmLog } from './swarm-log.ts';

const envelope = {
  timestamp: '2026-01-31T12:00:00.000Z',
  swarmId: '00000000-0000-4000-8000-000000000000',
  containerId: '0123456789ab',
};
const message = (one: Pick<SwarmMessage, 'type' | 'payload'>) => encodeMessage({ ...envelope, ...one } as SwarmMessage);
const progress = (status: 'in_progress' | 'failed', output = '') =>
  message({ type: 'progress-update', payload: { storyId: 'US-001', status, output } });

function shown(entries: readonly LogEntry[]): string[] {
  return entries.map(({ story, kind, text }) => `${story ?? '-'} ${kind} ${text}`);
}

test('messages of the agent and results of stories appear once each', () => {
  const log = new SwarmLog();
  const missing = 'AGENT_NOT_INSTALLED: the program is missing';
  const entries = [
    ...log.stdout(progress('in_progress')),
    ...log.stderr(Buffer.from('US-001 On it.\nUS-001 [Bash] ls')),
    ...log.stderr(Buffer.from(' -l\nnode: a warning\n')),
    ...log.stdout(progress('in_progress', 'On it.')),
    ...log.stdout(Buffer.from('not a message\n')),
    ...log.stdout(progress('failed', 'gave up')),
    ...log.stdout(message({ type: 'error', payload: { code: 'AGENT_CRASH', message: `US-001: ${missing}` } })),
    ...log.stdout(
      message({
        type: 'completion',
        payload: { status: 'failed', prUrl: null, errors: ['AGENT_NOT_INSTALLED: US-001: the program is missing'] },
      }),
    ),
    ...log.stderr(Buffer.from('US-001 cut')),
    ...log.end(),
  ];
  expect(shown(entries)).toEqual([
    'US-001 status in progress',
    'US-001 said On it.',
    'US-001 said [Bash] ls -l',
    '- said node: a warning',
    'US-001 status failed: gave up',
    '- error AGENT_NOT_INSTALLED: US-001: the program is missing',
    '- end failed',
    'US-001 said cut',
  ]);
});
