import { describe, expect, it } from 'vitest';
import { isFault } from '../../model/fault.ts';
import { checkedBody } from './body.ts';
import { planOf } from './route.ts';

const place = { tenant: 'carrel-ann', database: 'user', readonly: false };
const id = 'd7536e6f-af56-47ca-b4e1-86c9f235d6a6';
const inDatabase = '/api/v2/tenants/other/databases/theirs';

function codeOf(act: () => unknown): string {
  try {
    act();
    return 'ok';
  } catch (error) {
    return isFault(error) ? error.code : String(error);
  }
}

it.each([
  ['GET', '/api/v2/tenants/other', { name: 'carrel-ann' }],
  ['GET', '/api/v2/tenants/other/databases', [expect.objectContaining({ name: 'user', tenant: 'carrel-ann' })]],
  ['GET', inDatabase, expect.objectContaining({ name: 'user', tenant: 'carrel-ann' })],
  ['GET', '/api/v2/auth/identity', { user_id: '', tenant: 'carrel-ann', databases: ['user'] }],
])('%s %s is answered with the tenant and the database of the sandbox', (method, target, answer) => {
  const plan = planOf(method, target);
  expect(plan.kind === 'own' && plan.answer(place)).toEqual(answer);
});

it.each([
  ['GET', `${inDatabase}/collections?limit=10&offset=0`, { path: 'collections?limit=10&offset=0', learns: true }],
  ['POST', `${inDatabase}/collections`, { path: 'collections', body: 'create', writes: true }],
  ['GET', `${inDatabase}/collections/notes`, { path: 'collections/notes', learns: true, collection: null }],
  ['DELETE', `${inDatabase}/collections/notes`, { path: 'collections/notes', writes: true }],
  ['PUT', `${inDatabase}/collections/${id}`, { collection: id, body: 'change', writes: true }],
  ['POST', `${inDatabase}/collections/${id}/add`, { collection: id, body: 'add', writes: true }],
  ['POST', `${inDatabase}/collections/${id}/delete`, { collection: id, body: 'delete', writes: true }],
  ['POST', `${inDatabase}/collections/${id}/query`, { collection: id, body: 'query', writes: false }],
  ['GET', `${inDatabase}/collections/${id}/count`, { collection: id, writes: false }],
])('%s %s is passed on below the database of the sandbox', (method, target, expected) => {
  expect(planOf(method, target)).toMatchObject({ kind: 'forward', method, ...expected });
});

it.each([
  ['POST', '/api/v2/reset'],
  ['GET', '/api/v2/reset'],
  ['POST', '/api/v2/tenants'],
  ['PATCH', '/api/v2/tenants/x'],
  ['POST', '/api/v2/tenants/x/databases'],
  ['DELETE', inDatabase],
])('%s %s is denied', (method, target) => {
  expect(codeOf(() => planOf(method, target))).toBe('denied');
});

it.each([
  ['GET', '/'],
  ['GET', '/api/v1/collections'],
  ['GET', '/openapi.json'],
  ['GET', '/docs'],
  ['GET', '//api/v2/heartbeat'],
  ['GET', '/api/v2/./heartbeat'],
  ['GET', '/api/v2/heartbeat/'],
  ['GET', '/api/v2/heartbeat?tenant=x'],
  ['POST', '/api/v2/heartbeat'],
  ['GET', '/api/v2/tenants/..'],
  ['GET', '/api/v2/tenants/x%2fdatabases%2fy/databases/z/collections'],
  ['GET', '/api/v2/tenants/%2e%2e/databases/z/collections'],
  ['GET', '/api/v2/tenants/x/databases/../databases/z/collections'],
  ['GET', '/api/v2/tenants/../tenants/x/databases/z/collections'],
  ['GET', `${inDatabase}/collections/..`],
  ['GET', `${inDatabase}/collections/a%2f..%2fb`],
  ['GET', `${inDatabase}/collections/other:theirs:notes`],
  ['GET', `${inDatabase}/collections/notes?tenant=x`],
  ['GET', `${inDatabase}/collections?tenant=x`],
  ['GET', `${inDatabase}/collections?limit=1&limit=2&offset=3`],
  ['GET', `${inDatabase}/collections?limit=1?tenant=x`],
  ['GET', `${inDatabase}/collections?limit=-1`],
  ['POST', `${inDatabase}/collections/${id}/fork`],
  ['POST', `${inDatabase}/collections/${id}/search`],
  ['POST', `${inDatabase}/collections/${id}/constructor`],
  ['POST', `${inDatabase}/collections/${id}/add/x`],
  ['POST', `${inDatabase}/collections/notes/add`],
  ['PUT', `${inDatabase}/collections/notes`],
  ['POST', `${inDatabase}/collections/${id.toUpperCase()}/get`],
  ['DELETE', `${inDatabase}/collections/${id}/get`],
  ['HEAD', `${inDatabase}/collections`],
  ['GET', `${inDatabase}/collections#x`],
  ['GET', 'http://other/api/v2/heartbeat'],
])('%s %s does not exist', (method, target) => {
  expect(codeOf(() => planOf(method, target))).toBe('not_found');
});

describe('bodies', () => {
  const check = (kind: Parameters<typeof checkedBody>[0], body: unknown) =>
    codeOf(() => checkedBody(kind, Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))));

  it.each([
    ['create', { name: 'notes', get_or_create: true, metadata: { topic: 'x', 'hnsw:space': 'cosine' } }],
    ['create', { name: 'notes', configuration: { hnsw: { space: 'ip', ef_search: 50 }, embedding_function: null } }],
    ['create', { name: 'notes', configuration: { embedding_function: { type: 'legacy' } } }],
    ['create', { name: 'abc', configuration: { embedding_function: { type: 'known', name: 'default', config: {} } } }],
    ['change', { new_name: 'other', new_metadata: null }],
    ['add', { ids: ['a'], embeddings: [[1, 2]], documents: ['x'], metadatas: [{ a: 1 }], uris: null }],
    ['query', { query_embeddings: [[1]], n_results: 5, where: { a: 1 }, include: ['documents'] }],
    ['get', { limit: null, ids: ['x'] }],
  ] as const)('%s %j is passed on', (kind, body) => {
    expect(check(kind, body)).toBe('ok');
  });

  it.each([
    ['create', { name: 'notes', tenant: 'other' }, 'denied'],
    ['create', { name: 'notes', database: 'other' }, 'denied'],
    ['create', { name: 'other:theirs:notes' }, 'invalid'],
    ['create', { name: '..' }, 'invalid'],
    ['create', { name: ['notes'] }, 'invalid'],
    ['create', { name: 'notes', schema: {} }, 'denied'],
    ['create', { name: 'notes', configuration: { spann: {} } }, 'denied'],
    ['create', { name: 'notes', configuration: [] }, 'denied'],
    ['create', { name: 'notes', configuration: { hnsw: { max_neighbors: 1e9 } } }, 'invalid'],
    ['create', { name: 'notes', configuration: { hnsw: { num_threads: 1 } } }, 'denied'],
    ['create', { name: 'notes', metadata: { 'hnsw:M': 1e9 } }, 'invalid'],
    ['create', { name: 'notes', metadata: { 'HNSW:m': 1 } }, 'denied'],
    [
      'create',
      { name: 'notes', configuration: { embedding_function: { type: 'known', name: 'openai', config: {} } } },
      'denied',
    ],
    [
      'create',
      {
        name: 'notes',
        configuration: { embedding_function: { type: 'known', name: 'default', config: { url: 'http://evil' } } },
      },
      'denied',
    ],
    ['change', { new_configuration: { embedding_function: { type: 'known', name: 'x' } } }, 'denied'],
    ['add', { ids: [], tenant: 'x' }, 'denied'],
    ['query', { n_results: 1e9 }, 'invalid'],
    ['query', { query_texts: ['x'] }, 'denied'],
    ['get', '[]', 'invalid'],
    ['get', '{"ids":', 'invalid'],
    ['get', '', 'invalid'],
    ['get', `[${'0,'.repeat(1_000_001)}0]`, 'exhausted'],
  ] as const)('%s %.80j is refused as %3$s', (kind, body, code) => {
    expect(check(kind, body)).toBe(code);
  });

  it('a collection gets the configuration that was checked, also if the body has it twice', () => {
    const twice = '{"name":"notes","configuration":{"spann":{}},"configuration":null}';
    expect(checkedBody('create', Buffer.from(twice)).toString()).toBe('{"name":"notes","configuration":null}');
  });

  it('records are passed on byte by byte, because a number may have 64 bits', () => {
    const body = Buffer.from('{"ids":["a"],"metadatas":[{"n":9007199254740993}]}');
    expect(checkedBody('add', body)).toBe(body);
  });
});
