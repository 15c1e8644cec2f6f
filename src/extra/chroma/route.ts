/** The requests that a sandbox may send, and what the server gets instead of each. Anything else is refused. */

import { Fault } from '../../model/fault.ts';
import { type BodyKind, bodyKinds } from './body.ts';
import type { ChromaPlace } from './model.ts';

export type RoutePlan =
  /** Passed on as it is: the answer is the same for all sandboxes. */
  | { readonly kind: 'pass'; readonly path: string }
  /** Answered by the broker with the place of the sandbox, whatever the request names. */
  | { readonly kind: 'own'; readonly answer: (place: ChromaPlace) => unknown }
  | {
      readonly kind: 'forward';
      readonly method: string;
      /** The path below the database. */
      readonly path: string;
      readonly body: BodyKind | null;
      readonly writes: boolean;
      /** The id of the collection, which has to be in the sandbox's database. */
      readonly collection: string | null;
      /** The answer lists collections, which the broker remembers. */
      readonly learns: boolean;
    };

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/**
 * Names of collections that the server accepts. Without ":", by which newer servers find a collection of any tenant.
 */
const name = /^[A-Za-z0-9][A-Za-z0-9._-]{1,510}[A-Za-z0-9]$/;
/**
 * Names of tenants and databases in a request, which are not used. Without "%", so that no character can be encoded.
 */
const segment = /^(?!\.{1,2}$)[A-Za-z0-9_.@~-]{1,200}$/;
const page = /^(?:(?:limit|offset)=\d{1,6}(?:&|$)){0,2}$/;

const passed = ['heartbeat', 'version', 'healthcheck', 'pre-flight-checks'];
const root = '/api/v2/';
const recordWrites = ['add', 'upsert', 'update', 'delete'] as const;
const recordReads = ['get', 'query'] as const;

/** `target` is that of the request, not decoded. */
export function planOf(method: string, target: string): RoutePlan {
  const [path = '', query = '', ...more] = target.split('?');
  if (!path.startsWith(root) || more.length > 0 || !page.test(query)) throw unknown();
  const words = path.slice(root.length).split('/');
  const plan = words[0] === 'tenants' ? tenantPlan(method, words.slice(1), query) : topPlan(method, words, query);
  if (plan !== null) return plan;
  throw unknown();
}

function topPlan(method: string, words: readonly string[], query: string): RoutePlan | null {
  const path = words.join('/');
  if (path === 'reset') throw refused('reset');
  if (method !== 'GET' || query !== '') return null;
  if (passed.includes(path)) return { kind: 'pass', path: `${root}${path}` };
  if (path !== 'auth/identity') return null;
  return { kind: 'own', answer: ({ tenant, database }) => ({ user_id: '', tenant, databases: [database] }) };
}

function tenantPlan(method: string, words: readonly string[], query: string): RoutePlan | null {
  const [tenant, databases, database, ...rest] = words;
  if (tenant === undefined) throw refused('administration of tenants');
  if (!segment.test(tenant)) return null;
  if (databases === undefined) return ownPlan(method, 'tenants', (place) => ({ name: place.tenant }));
  if (databases !== 'databases') return null;
  if (database === undefined) return ownPlan(method, 'databases', (place) => [databaseOf(place)]);
  if (!segment.test(database)) return null;
  if (rest.length === 0) return ownPlan(method, 'databases', databaseOf);
  return collectionPlan(method, rest, query);
}

function ownPlan(method: string, what: string, answer: (place: ChromaPlace) => unknown): RoutePlan {
  if (method === 'GET') return { kind: 'own', answer };
  throw refused(`administration of ${what}`);
}

/** Clients read only the name. */
function databaseOf({ tenant, database }: ChromaPlace): object {
  return { id: '00000000-0000-0000-0000-000000000000', name: database, tenant };
}

function collectionPlan(method: string, words: readonly string[], query: string): RoutePlan | null {
  const [noun, collection, act, ...more] = words;
  if (more.length > 0) return null;
  const plan = { kind: 'forward', method, body: null, writes: false, collection: null, learns: false } as const;
  if (noun === 'collections_count') return isGet(method, words, 1, query) ? { ...plan, path: noun } : null;
  if (noun !== 'collections') return null;
  if (collection === undefined) return collectionsPlan(plan, query);
  if (query !== '') return null;
  if (act !== undefined) return recordPlan(plan, collection, act);
  const path = `collections/${collection}`;
  if (method === 'PUT' && uuid.test(collection)) return { ...plan, path, collection, body: 'change', writes: true };
  if (!name.test(collection)) return null;
  if (method === 'GET') return { ...plan, path, learns: true };
  return method === 'DELETE' ? { ...plan, path, writes: true } : null;
}

type Forwarded = Extract<RoutePlan, { kind: 'forward' }>;
type Begun = Omit<Forwarded, 'path'>;

function collectionsPlan(plan: Begun, query: string): RoutePlan | null {
  const path = 'collections';
  if (plan.method === 'GET') return { ...plan, path: query === '' ? path : `${path}?${query}`, learns: true };
  if (plan.method !== 'POST' || query !== '') return null;
  return { ...plan, path, body: 'create', writes: true, learns: true };
}

function recordPlan(plan: Begun, collection: string, act: string): RoutePlan | null {
  if (!uuid.test(collection)) return null;
  const path = `collections/${collection}/${act}`;
  if (plan.method === 'GET') return act === 'count' ? { ...plan, path, collection } : null;
  const known = plan.method === 'POST' && isOne([...recordWrites, ...recordReads], act);
  if (!known || !(act in bodyKinds)) return null;
  return { ...plan, path, collection, body: act as BodyKind, writes: isOne(recordWrites, act) };
}

function isGet(method: string, words: readonly string[], length: number, query: string): boolean {
  return method === 'GET' && words.length === length && query === '';
}

function isOne(all: readonly string[], one: string): boolean {
  return all.includes(one);
}

function unknown(): Fault {
  return new Fault('not_found', 'the broker of Chroma does not know this request', {
    hint: 'Collections and their records are served, as API version 2 has them.',
  });
}

function refused(what: string): Fault {
  return new Fault('denied', `a sandbox may not use this: ${what}`);
}
