/** What sandboxes may rely on when they use Chroma, and what none of them can do, with a server of Carrel or one elsewhere. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChromaBench, chromaClients, places, type Sent } from '../harness/chroma.ts';

const own = ({ tenant, database }: { tenant: string; database: string }) =>
  `/api/v2/tenants/${tenant}/databases/${database}`;
const anywhere = '/api/v2/tenants/default_tenant/databases/default_database';

export function chromaContract(name: string, open: () => Promise<ChromaBench>): void {
  describe(name, () => {
    let bench: ChromaBench;
    beforeAll(async () => {
      bench = await open();
    });
    afterAll(() => bench.dispose());

    const create = async (sandbox: string, called: string, text: string) => {
      const { body } = await bench.send(sandbox, `${anywhere}/collections`, { body: { name: called } });
      const record = { ids: ['x'], embeddings: [[1, 2, 3]], documents: [text] };
      await bench.send(sandbox, `${anywhere}/collections/${body.id}/add`, { body: record });
      return body.id as string;
    };
    const documents = async (sandbox: string, id: string) =>
      (await bench.send(sandbox, `${anywhere}/collections/${id}/get`, { body: {} })).body.documents as string[];

    it('the JavaScript client works without a change', async () => {
      const { ChromaClient } = await import(`${chromaClients}/node_modules/chromadb/dist/chromadb.mjs`);
      const port = await bench.front('ann1');
      const client = new ChromaClient({ host: '127.0.0.1', port });
      expect(await client.heartbeat()).toBeGreaterThan(0);
      expect(await client.version()).toMatch(/^\d/);
      const embeddingFunction = { generate: async (texts: string[]) => texts.map((text) => [text.length, 1]) };
      const notes = await client.getOrCreateCollection({ name: 'client-notes', embeddingFunction });
      await notes.add({ ids: ['a', 'b'], documents: ['hello', 'hello, world'], metadatas: [{ n: 1 }, { n: 2 }] });
      await notes.upsert({ ids: ['a'], documents: ['hallo'] });
      await notes.update({ ids: ['b'], metadatas: [{ n: 3 }] });
      expect(await notes.count()).toBe(2);
      const found = await notes.query({ queryTexts: ['hallo'], nResults: 1, where: { n: 1 } });
      expect(found.documents).toEqual([['hallo']]);
      await notes.modify({ name: 'client-renamed' });
      await notes.delete({ ids: ['a'] });
      expect((await notes.peek({ limit: 5 })).ids).toEqual(['b']);
      expect(await client.countCollections()).toBe(1);
      expect((await client.listCollections()).map((one: { name: string }) => one.name)).toEqual(['client-renamed']);
      await client.deleteCollection({ name: 'client-renamed' });
      expect(await client.countCollections()).toBe(0);
      await expect(client.reset()).rejects.toThrow('permission');
    });

    it('a sandbox has one tenant and database, whatever a request names', async () => {
      const id = await create('ann1', 'shared-notes', 'of ann');
      const named = [anywhere, own(places.bob1!), own(places.ann3!), '/api/v2/tenants/admin/databases/system'];
      for (const base of named) {
        const { body } = await bench.send('ann1', `${base}/collections?limit=10&offset=0`);
        expect([base, body.map((one: { id: string }) => one.id)]).toEqual([base, [id]]);
        expect((await bench.send('bob1', `${base}/collections`)).body).toEqual([]);
        expect((await bench.send('ann3', `${base}/collections/shared-notes`)).status).toBe(404);
      }
      expect(await documents('ann2', id)).toEqual(['of ann']);
      const headers = { 'x-chroma-token': 'x', tenant: 'carrel-ann', 'x-tenant': 'carrel-ann' };
      expect((await bench.send('bob1', `${anywhere}/collections`, { headers })).body).toEqual([]);
    });

    it('a collection of another database is not reached by its id, on any route', async () => {
      const victims = [
        ['ann1', await create('ann1', 'victim-one', 'secret one')],
        ['ann3', await create('ann3', 'victim-two', 'secret two')],
        ['bob1', await create('bob1', 'victim-one', 'secret three')],
      ] as const;
      const record = { ids: ['evil'], embeddings: [[9, 9, 9]], documents: ['evil'] };
      const attacks: readonly [string, Sent][] = [
        ['/count', {}],
        ['/get', { body: {} }],
        ['/query', { body: { query_embeddings: [[1, 2, 3]], n_results: 5 } }],
        ['/add', { body: record }],
        ['/upsert', { body: { ...record, ids: ['x'] } }],
        ['/update', { body: { ids: ['x'], documents: ['evil'] } }],
        ['/delete', { body: { ids: ['x'] } }],
        ['/fork', { body: { new_name: 'stolen' } }],
        ['', { method: 'PUT', body: { new_name: 'stolen' } }],
        ['', { method: 'DELETE' }],
        ['', { method: 'GET' }],
      ];
      for (const [owner, id] of victims) {
        const sameDatabase = (one: string) => own(places[one]!) === own(places[owner]!);
        for (const attacker of Object.keys(places).filter((one) => !sameDatabase(one))) {
          for (const base of [anywhere, own(places[owner]!), own(places[attacker]!)]) {
            const answers = attacks.map(([act, sent]) => bench.send(attacker, `${base}/collections/${id}${act}`, sent));
            for (const { status, body } of await Promise.all(answers)) {
              expect([404, 403]).toContain(status);
              expect(JSON.stringify(body)).not.toContain('secret');
            }
          }
        }
      }
      for (const [owner, id] of victims) expect(await documents(owner, id)).toEqual([expect.stringMatching(/^secret/)]);
    });

    it.each([
      ['POST', '/api/v2/reset', 403],
      ['POST', '/api/v2/tenants', 403],
      ['PATCH', '/api/v2/tenants/carrel-ann', 403],
      ['POST', '/api/v2/tenants/carrel-ann/databases', 403],
      ['DELETE', own(places.ann1!), 403],
      ['GET', '/api/v1/collections', 404],
      ['GET', '/openapi.json', 404],
      ['GET', '/docs', 404],
      ['GET', '/api/v2/../v2/heartbeat', 404],
      ['GET', '/api/v2/tenants/..%2fcarrel-ann/databases/project-1/collections', 404],
      ['GET', '/api/v2/tenants/x/databases/y%2f..%2f..%2fcarrel-ann/collections', 404],
      ['GET', '/api/v2/tenants/x/databases/../../carrel-ann/databases/project-1/collections', 404],
      ['GET', `${anywhere}/collections/carrel-ann:project-1:victim-one`, 404],
      ['GET', `${anywhere}/collections?tenant=carrel-ann&database=project-1`, 404],
      ['POST', `${anywhere}/batch`, 404],
      ['OPTIONS', `${anywhere}/collections`, 404],
    ])('%s %s of another user is refused', async (method, target, status) => {
      const body = method === 'GET' || method === 'OPTIONS' ? {} : { body: { name: 'other', resource_name: 'x' } };
      expect((await bench.send('bob1', target, { method, ...body })).status).toBe(status);
    });

    it('a tenant or database in a body, unknown fields and embedding functions are refused', async () => {
      const to = `${anywhere}/collections`;
      const post = async (body: unknown) => (await bench.send('bob1', to, { body })).status;
      expect(await post({ name: 'notes', tenant: 'carrel-ann' })).toBe(403);
      expect(await post({ name: 'notes', database: 'project-1' })).toBe(403);
      const openai = { type: 'known', name: 'openai', config: { api_key_env_var: 'KEY', url: 'http://evil' } };
      expect(await post({ name: 'notes', configuration: { embedding_function: openai } })).toBe(403);
      expect(await post({ name: 'notes', schema: { defaults: {} } })).toBe(403);
      expect(await post({ name: 'with-empty-schema', schema: null })).toBe(200);
      expect(await post('[1')).toBe(400);
    });

    it('a sandbox that only reads changes nothing', async () => {
      const id = await create('ann1', 'for-readers', 'kept');
      expect(await documents('ann2', id)).toEqual(['kept']);
      const record = { ids: ['y'], embeddings: [[1, 2, 3]] };
      const tries = [
        bench.send('ann2', `${anywhere}/collections/${id}/add`, { body: record }),
        bench.send('ann2', `${anywhere}/collections/${id}/delete`, { body: { ids: ['x'] } }),
        bench.send('ann2', `${anywhere}/collections/${id}`, { method: 'PUT', body: { new_name: 'mine' } }),
        bench.send('ann2', `${anywhere}/collections/for-readers`, { method: 'DELETE' }),
        bench.send('ann2', `${anywhere}/collections`, { body: { name: 'another', get_or_create: true } }),
      ];
      expect((await Promise.all(tries)).map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
      expect(await documents('ann1', id)).toEqual(['kept']);
    });

    it('a request without a sandbox, of an unknown one, or too large is refused', async () => {
      expect((await bench.send(null, '/api/v2/heartbeat')).status).toBe(401);
      expect((await bench.send('unknown', '/api/v2/heartbeat')).status).toBe(403);
      const id = await create('ann1', 'for-limits', 'x');
      const large = { ids: ['large'], embeddings: [[1, 2, 3]], documents: ['x'.repeat(17 * 1024 ** 2)] };
      const to = `${anywhere}/collections/${id}/add`;
      await expect(bench.send('ann1', to, { body: large }).then(({ status }) => status)).resolves.toBe(413);
    });

    it('the 65th request at the same time is refused, the 64 before it are answered', async () => {
      const id = await create('bob1', 'for-many', 'x');
      const body = Buffer.from('{}');
      const open = Array.from({ length: 65 }, () =>
        bench.begin('bob1', `${anywhere}/collections/${id}/get`, body.length),
      );
      expect((await Promise.race(open.map(({ reply }) => reply))).status).toBe(429);
      for (const { request } of open) request.end(body);
      const statuses = (await Promise.all(open.map(({ reply }) => reply))).map(({ status }) => status);
      expect(statuses.sort()).toEqual([...Array.from({ length: 64 }, () => 200), 429]);
    });
  });
}
