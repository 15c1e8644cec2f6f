/**
 * The bodies that a sandbox may send: their fields, and the values of fields that affect the server or other clients.
 */
import { TokenCount } from '../../lib/wire/bounded-json.ts';
import { Fault } from '../../model/fault.ts';
import { printable } from '../../model/name.ts';
import { isObject } from '../../model/object.ts';

export type BodyKind = 'create' | 'change' | 'add' | 'upsert' | 'update' | 'delete' | 'get' | 'query';

const records = ['ids', 'embeddings', 'documents', 'metadatas', 'uris'];
const filters = ['ids', 'where', 'where_document'];

/** The allowed fields of each kind. */
export const bodyKinds: Readonly<Record<BodyKind, readonly string[]>> = {
  create: ['name', 'metadata', 'configuration', 'get_or_create'],
  change: ['new_name', 'new_metadata', 'new_configuration'],
  add: records,
  upsert: records,
  update: records,
  delete: filters,
  get: [...filters, 'include', 'limit', 'offset'],
  query: [...filters, 'include', 'n_results', 'query_embeddings'],
};

export const maxBodyBytes = 16 * 1024 ** 2;
/**
 * The most values in a body: they take about 100 ms to parse. Embeddings that are not base64 count with each number.
 */
const maxValues = 1_000_000;
const maxResults = 10_000;
/** Limits of the index settings that decide how much memory and time each record takes. */
const indexLimits: Readonly<Record<string, number>> = {
  ef_construction: 1000,
  ef_search: 1000,
  max_neighbors: 256,
  resize_factor: 10,
  sync_threshold: 100_000,
  batch_size: 10_000,
};
/** The same limits for older clients, which send these settings in the metadata of a collection. */
const indexMetadata: Readonly<Record<string, number>> = {
  'hnsw:construction_ef': 1000,
  'hnsw:search_ef': 1000,
  'hnsw:M': 256,
  'hnsw:resize_factor': 10,
  'hnsw:sync_threshold': 100_000,
  'hnsw:batch_size': 10_000,
};
const spaces = ['l2', 'cosine', 'ip'];
const collectionName = /^[A-Za-z0-9][A-Za-z0-9._-]{1,510}[A-Za-z0-9]$/;

/** Returns the body that the server gets. */
export function checkedBody(kind: BodyKind, bytes: Buffer): Buffer {
  const body = objectIn(bytes);
  // Newer clients send `schema: null`, which older servers do not know.
  if (kind === 'create' && body.schema === null) delete body.schema;
  const field = Object.keys(body).find((key) => !bodyKinds[kind].includes(key));
  if (field !== undefined) throw refused(`the field ${printable(field)}`);
  if (kind === 'create') checkCollection(body.name, body.metadata, body.configuration);
  else if (kind === 'change') checkCollection(body.new_name, body.new_metadata, body.new_configuration);
  else if (kind === 'get') checkCount('limit', body.limit, Number.MAX_SAFE_INTEGER);
  else if (kind === 'query') checkCount('n_results', body.n_results, maxResults);
  // If a body has a field twice, the last one was checked, so only that one is sent. Bodies with records are sent as
  // they
  // are, because their numbers may have 64 bits.
  return kind === 'create' || kind === 'change' ? Buffer.from(JSON.stringify(body)) : bytes;
}

function objectIn(bytes: Buffer): Record<string, unknown> {
  const count = new TokenCount('text', maxValues);
  count.push(bytes);
  if (count.refusal !== null) throw new Fault('exhausted', `${count.refusal}: send fewer records at once`);
  const body = parsed(bytes);
  if (isObject(body)) return body;
  throw new Fault('invalid', 'the body is not a JSON object');
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new Fault('invalid', 'the body is not JSON', { cause });
  }
}

function checkCollection(name: unknown, metadata: unknown, configuration: unknown): void {
  const isNamed = name === undefined || name === null || (typeof name === 'string' && collectionName.test(name));
  if (!isNamed) throw new Fault('invalid', 'a collection has 3 to 512 letters, digits and "._-" as its name');
  if (isObject(metadata)) checkMetadata(metadata);
  if (configuration === undefined || configuration === null) return;
  if (!isObject(configuration)) throw refused('this configuration');
  for (const [key, value] of Object.entries(configuration)) {
    if (value === null) continue;
    if (key === 'hnsw') checkIndex(value);
    else if (key === 'embedding_function') checkEmbedding(value);
    else throw refused(`configuration.${printable(key)}`);
  }
}

function checkMetadata(metadata: Record<string, unknown>): void {
  for (const [key, value] of Object.entries(metadata)) {
    if (!key.toLowerCase().startsWith('hnsw:') || (key === 'hnsw:space' && spaces.includes(value as string))) continue;
    const most = indexMetadata[key];
    if (most === undefined) throw refused(`metadata.${printable(key)}`);
    checkCount(`metadata.${key}`, value, most);
  }
}

function checkIndex(index: unknown): void {
  if (!isObject(index)) throw refused('configuration.hnsw');
  for (const [key, value] of Object.entries(index)) {
    const most = indexLimits[key];
    const isKnown = key === 'space' ? spaces.includes(value as string) : most !== undefined;
    if (!isKnown && value !== null) throw refused(`configuration.hnsw.${printable(key)}`);
    if (most !== undefined) checkCount(`configuration.hnsw.${key}`, value, most);
  }
}

/**
 * A collection stores the function with which its clients make embeddings. The next client of the collection would call
 * that function with its own key, at an address that the writer chose.
 */
function checkEmbedding(value: unknown): void {
  if (isObject(value) && value.type === 'legacy' && Object.keys(value).length === 1) return;
  const isDefault =
    isObject(value) && value.type === 'known' && value.name === 'default' && Object.keys(value).length <= 3;
  if (isDefault && (value.config === undefined || isEmpty(value.config))) return;
  throw refused('an embedding function in the configuration');
}

function checkCount(field: string, value: unknown, most: number): void {
  if (value === undefined || value === null) return;
  if (typeof value === 'number' && value >= 0 && value <= most) return;
  throw new Fault('invalid', `${field} is a number of at most ${most}`);
}

function isEmpty(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}

function refused(what: string): Fault {
  return new Fault('denied', `a sandbox may not use this: ${what}`);
}
