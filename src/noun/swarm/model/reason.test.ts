import { expect, test } from 'vitest';
import { adapterCommand } from '../../agent/model/agent.ts';
import { agentPresets } from '../../agent/model/table.ts';
import { errorText } from './message.ts';
import { hintOf } from './reason.ts';
import { type ContainerWork, freshWork, reasonOf, type SwarmContainer } from './swarm.ts';
import { noProgress } from './task.ts';

const at = '2026-01-31T12:00:00.000Z';
const request = { command: adapterCommand({ agent: agentPresets.codex! }) };

function failed(work: Partial<ContainerWork>): SwarmContainer {
  return {
    ...{ swarmId: 's', containerId: 'c', containerName: 'login', taskFilePath: 'x.json', branchName: 'b' },
    ...{ status: 'failed', prUrl: null, storyProgress: noProgress, createdAt: at, updatedAt: at, acpPid: null },
    work: { ...freshWork({ agent: 'codex', request, stories: {} }), ...work },
  };
}

test.each([
  [
    'MISSING_ENV_VAR: the agent needs CODEX_API_KEY',
    'carrel secret set OPENAI_API_KEY < FILE; then: carrel swarm resume login',
  ],
  ['AGENT_NOT_INSTALLED: codex', 'npm install -g --prefix /usr/local @openai/codex; then: carrel swarm resume login'],
  ['SERVICE_UNREACHABLE: no connection', 'carrel net log login'],
  ['CONTAINER_OOM', 'carrel swarm resume login --memory'],
  ['AGENT_CRASH: ended with 3', 'carrel swarm logs login'],
  ['US-001: it gave up', 'carrel swarm logs login'],
])('%s has the hint %s', (error, hint) => {
  expect(hintOf(failed({ errors: [error] }))).toContain(hint);
  expect(hintOf(failed({ reason: error }))).toContain(hint);
});

test('the reason of a container is the error that ended it, not a connection that was made again', () => {
  const errors = ['ACP_CONNECTION_LOST: the connection ended; connecting again', 'AGENT_CRASH: US-001: no'];
  expect(reasonOf(failed({ errors }))).toBe('AGENT_CRASH: US-001: no');
  expect(reasonOf({ ...failed({ errors }), status: 'completed' })).toBeNull();
  expect(reasonOf({ ...failed({}), work: null, reason: 'lost' })).toBe('lost');
});

test('a reason without a code of its own is shown before its story, instead of the code of the message', () => {
  expect(errorText('AGENT_CRASH', 'US-001: AGENT_NOT_INSTALLED: claude')).toBe('AGENT_NOT_INSTALLED: US-001: claude');
  expect(errorText('UNKNOWN_ERROR', 'SERVICE_UNREACHABLE: x')).toBe('SERVICE_UNREACHABLE: x');
  expect(errorText('AGENT_CRASH', 'US-001: other')).toBe('AGENT_CRASH: US-001: other');
});
