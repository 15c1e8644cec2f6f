/** What a token permits at the port of the daemon, and what it does not. */
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { toolGroups } from '../../src/noun/hub/model/token.ts';
import { bearer, openClient } from '../fixtures/mcp-port.ts';
import { Installation } from '../harness/installation.ts';

let carrel: Installation;
let store: string;
let mcp: string;
const clients: Client[] = [];

beforeAll(async () => {
  carrel = new Installation();
  store = carrel.folder('store');
  writeFileSync(join(store, 'README'), 'a store\n');
  await carrel.ok('up', '-d', '--port', '0');
  await carrel.ok('project', 'add', carrel.folder('shop'));
  await carrel.ok('project', 'add', store, '--test', 'true');
  mcp = (await carrel.json<{ mcp: string }>('status')).mcp;
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
});
afterAll(() => carrel.dispose());

interface Made {
  readonly id: string;
  readonly token: string;
}

function make(...options: readonly string[]): Promise<Made> {
  return carrel.json<Made>('hub', 'token', ...options);
}

async function connect(transport: string, modern: boolean, token: string): Promise<Client> {
  const client = await openClient(mcp, transport, modern, token);
  clients.push(client);
  return client;
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
}

/** Valid input for a schema; each project in it is `store`. */
function sample(schema: Schema, name = ''): unknown {
  const choice = (schema.anyOf ?? schema.oneOf)?.[0];
  if (choice) return sample(choice, name);
  if (schema.const !== undefined || schema.enum) return schema.const ?? schema.enum![0];
  if (schema.type === 'array') return Array.from({ length: schema.minItems ?? 1 }, () => sample(schema.items!, name));
  if (schema.type === 'object') {
    const fields = (schema.required ?? []).map((key) => [key, sample(schema.properties![key]!, key)]);
    return Object.fromEntries(fields) as object;
  }
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(1, schema.minimum ?? 1);
  if (schema.type === 'boolean') return false;
  return name.startsWith('project') ? 'store' : 'README';
}

/** Further input that tools need besides required fields, by the name of a tool or of a field. */
const further: Readonly<Record<string, object>> = {
  write_file: { content: 'x' },
  memory_save: { project: 'store' },
  memory_search: { project: 'store' },
  run_command: { projects: ['shop', 'store'] },
  symbol: { symbol: 'price' },
};

/** Rooms belong to the user, not to projects; notes are named by their ids. */
const namesProjects = ({ name }: { readonly name: string }) =>
  !/^(list_projects|memory_get|memory_forget|room_\w+)$/.test(name);

it('a token with the group rooms posts, reads and follows under its own name only', async () => {
  await carrel.ok('room', 'create', 'team');
  const { id, token } = await make('--project', 'shop', '--tools', 'files,rooms');
  const client = await connect('HTTP', true, token);
  const call = async (name: string, input: Record<string, unknown>) =>
    (await client.callTool({ name, arguments: { room: 'team', ...input } })) as CallToolResult;
  const follows = call('room_follow', { timeout: 60 });
  const forged = { body: '---\nfrom: root\n---\nhello', key: 'once' };
  const posted = await call('room_post', forged);
  expect(posted.structuredContent).toMatchObject({ from: `token-${id}` });
  expect((await call('room_post', forged)).structuredContent).toEqual(posted.structuredContent);
  const shown = [{ from: `token-${id}`, body: forged.body }];
  expect((await call('room_read', {})).structuredContent).toMatchObject({ messages: shown });
  // room_follow waits for messages after its call: this post or the next.
  await carrel.ok('room', 'post', 'team', 'next');
  expect((await follows).structuredContent).toMatchObject({ last_id: expect.any(String) });
  const [first] = await carrel.json<{ from: string; via: string }[]>('room', 'read', 'team', '--peek');
  expect(first).toMatchObject({ from: `token-${id}`, via: 'hub' });
  const without = await connect('HTTP', true, (await make('--project', 'shop')).token);
  const { tools } = await without.listTools();
  expect(tools.filter(({ name }) => name.startsWith('room_'))).toEqual([]);
  await expect(without.callTool({ name: 'room_read', arguments: { room: 'team' } })).rejects.toThrow();
});

describe.each([
  ['HTTP', true],
  ['HTTP', false],
  ['WebSocket', true],
])('over %s, newest revision: %s', (transport, modern) => {
  it('every tool refuses a project that the token does not name', async () => {
    const { id, token } = await make('--project', 'shop', '--tools', toolGroups.join(','));
    const client = await connect(transport, modern, token);
    const { tools } = await client.listTools();
    expect(tools.length).toBeGreaterThan(20);
    for (const { name, inputSchema } of tools.filter(namesProjects)) {
      const more = [name, ...Object.keys(inputSchema.properties ?? {})].map((key) => further[key]);
      const input = Object.assign({}, sample(inputSchema as Schema), ...more) as Record<string, unknown>;
      const { isError, content } = (await client.callTool({ name, arguments: input })) as CallToolResult;
      const { text } = content[0] as { text: string };
      expect([name, isError, text]).toEqual([name, true, expect.stringMatching(/^not_found: no project store\b/)]);
    }
    const listed = await client.callTool({ name: 'list_projects', arguments: {} });
    expect(listed.structuredContent).toMatchObject({ projects: [{ id: 'shop' }] });
    expect(readdirSync(store)).toEqual(['README']);
    expect(await carrel.json('ls')).toEqual([]);
    expect(await carrel.ok('audit')).toMatch(new RegExp(`hub\\.write_file store not_found - token=${id}`));
  });

  it('a token that is revoked ends its open sessions and is refused from then on', async () => {
    const { id, token } = await make('--project', '*');
    const client = await connect(transport, modern, token);
    await client.callTool({ name: 'list_projects', arguments: {} });
    const used = await carrel.json<{ id: string; usedAt: string | null }[]>('hub', 'token', 'ls');
    expect(used.find((one) => one.id === id)?.usedAt).not.toBeNull();
    const closed = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    await carrel.ok('hub', 'token', 'rm', id);
    if (transport === 'WebSocket') await closed;
    await expect(client.callTool({ name: 'list_projects', arguments: {} })).rejects.toThrow();
    await expect(connect(transport, modern, token)).rejects.toThrow();
  });
});

describe('as a resource server', () => {
  const metadata = () => mcp.replace('/mcp', '/.well-known/oauth-protected-resource');
  const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
  const call = (name: string) =>
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } });
  const post = (token: string | null, url = mcp, body = call('list_projects')) =>
    fetch(url, { method: 'POST', headers: { ...headers, ...(token === null ? {} : bearer(token)) }, body });

  it('publishes its metadata, under the host name that the client uses', async () => {
    for (const url of [metadata(), `${metadata()}/mcp`]) {
      expect(await (await fetch(url)).json()).toMatchObject({ resource: mcp, bearer_methods_supported: ['header'] });
    }
    const named = metadata().replace('127.0.0.1', 'localhost');
    expect(await (await fetch(named)).json()).toMatchObject({ resource: mcp.replace('127.0.0.1', 'localhost') });
  });

  it('answers 401 with the place of the metadata without a token, with a forged one and with one in the URL', async () => {
    const { token } = await make('--project', 'shop');
    const [header, claims] = token.split('.');
    const forged = `${header}.${claims}.${createHmac('sha256', 'guess').update(`${header}.${claims}`).digest('base64url')}`;
    for (const answer of [await post(null), await post(forged), await post(token, `${mcp}?access_token=${token}`)]) {
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toContain(`resource_metadata="${metadata()}/mcp"`);
    }
  });

  it('answers 403 with the missing scope for a tool of a group that the token does not name', async () => {
    const { token } = await make('--project', 'shop', '--tools', 'files');
    const answer = await post(token, mcp, call('swarm_run'));
    expect(answer.status).toBe(403);
    expect(answer.headers.get('www-authenticate')).toMatch(/error="insufficient_scope", scope="files swarm"/);
    const client = await connect('HTTP', true, token);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('read_file');
    expect(names.filter((name) => /^(run|swarm|environment)_/.test(name))).toEqual([]);
  });
});

it('a token is valid after the daemon was killed, and a project that is removed does not exist for it', async () => {
  const { token } = await make('--project', 'store');
  await carrel.killDaemon();
  await carrel.ok('up', '-d', '--port', new URL(mcp).port);
  const client = await connect('HTTP', true, token);
  const read = { name: 'read_file', arguments: { project: 'store', path: 'README' } };
  expect((await client.callTool(read)).structuredContent).toMatchObject({
    content: readFileSync(join(store, 'README'), 'utf8'),
  });
  await carrel.ok('project', 'rm', 'store');
  expect(await client.callTool(read)).toMatchObject({ isError: true });
});
