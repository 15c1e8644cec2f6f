import { expect, test } from 'vitest';
import type { AcpPeer } from '../../../agent/inside/acp/peer.ts';
import type { AgentRecord } from '../driver/driver.ts';
import { openSession } from './opening.ts';

type Json = Record<string, unknown>;
const mcpServers: Json[] = [{ name: 'rooms', command: '/opt/carrel/bin/carrel-room', args: ['mcp'], env: [] }];
const options = { sessionId: 's', agent: 'demo', cwd: '/workspace', hasHistory: false };

/** The requests that open a session of an agent that can load sessions. */
async function requestsFor(known: AgentRecord, servers: Json[] = mcpServers, can: object = {}): Promise<unknown[]> {
  const sent: unknown[] = [];
  const request = async (method: string, params: object) => {
    if (method === 'initialize') return { agentCapabilities: { loadSession: true, ...can } };
    sent.push([method, params]);
    return { sessionId: 'new' };
  };
  const peer = { request } as unknown as AcpPeer;
  await openSession({
    peer,
    spec: { kind: 'acp', command: ['demo'] },
    options: { ...options, known },
    mcpServers: servers,
  });
  return sent;
}

test('an agent gets the MCP servers with a new session and with one that it loads', async () => {
  const cwd = '/workspace';
  expect(await requestsFor({})).toEqual([['session/new', { cwd, mcpServers }]]);
  expect(await requestsFor({ agentSessionId: 'known' })).toEqual([
    ['session/load', { sessionId: 'known', cwd, mcpServers }],
  ]);
});

test('an agent gets MCP servers with an address only if it reports that it supports them', async () => {
  const servers = [...mcpServers, { type: 'http', name: 'hub', url: 'http://127.0.0.1:17008/mcp', headers: [] }];
  const cwd = '/workspace';
  expect(await requestsFor({}, servers)).toEqual([['session/new', { cwd, mcpServers }]]);
  expect(await requestsFor({}, servers, { mcpCapabilities: { http: true } })).toEqual([
    ['session/new', { cwd, mcpServers: servers }],
  ]);
});
