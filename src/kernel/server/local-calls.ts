/** Calls of routes from inside the daemon. They are validated, logged and refused like requests of clients. */

import { validated } from '../../lib/schema/validated.ts';
import { jsonPieces } from '../../lib/wire/encoded-json.ts';
import { asFault, Fault } from '../../model/fault.ts';
import type { Actor } from '../../model/user.ts';
import type { AnswerOf, Input, RouteKey } from '../../noun/routes.ts';
import type { Audit, Detail } from '../audit/audit.ts';
import type { Settings } from '../settings/settings.ts';
import { type Auditing, audited, type SecretCheck } from './auditing.ts';
import type { Route } from './route.ts';
import { refreshFor } from './server.ts';

export interface LocalParts extends Auditing {
  readonly settings: Pick<Settings, 'refresh' | 'refusal'>;
  readonly routes: readonly Route[];
  readonly scopes: { of(actor: Actor): SecretCheck };
  readonly spaceHints: { named(fault: Fault, user: string): Promise<Fault> };
}

/** Parsing a larger answer would block the event loop. */
const maxAnswerBytes = 4 * 1024 * 1024;

export type LocalCall = <K extends RouteKey>(key: K, input: Input<K>) => Promise<AnswerOf<K>>;

/** `by` is added to each line in the audit log. */
export function localCall(parts: LocalParts, actor: Actor, by: Detail): LocalCall {
  const auditing = { ...parts, audit: marked(parts.audit, by) };
  return async (key, { path, query, body, signal = new AbortController().signal }) => {
    const route = parts.routes.find((one) => one.key === key) as Route;
    const names: Readonly<Record<string, string>> = path ?? {};
    const request = {
      ...{ actor, signal, scope: parts.scopes.of(actor), name: names.name ?? '', path: names },
      query: route.query ? validated(route.query, texts(query), 'query') : undefined,
      body: route.body ? validated(route.body, body ?? {}, 'body') : undefined,
    };
    if (route.usesSettings) refreshFor(parts.settings, actor);
    const { answer } = await audited(auditing, route, request, null).catch(async (error: unknown) => {
      throw await parts.spaceHints.named(asFault(error), actor.name);
    });
    return parsed(answer) as AnswerOf<typeof key>;
  };
}

function marked(audit: Audit, by: Detail): Audit {
  return {
    ...{ read: (options) => audit.read(options), flush: () => audit.flush() },
    begin: (act, frees) => {
      const openAct = audit.begin(act, frees);
      return { end: (outcome, found = {}) => openAct.end(outcome, { ...found, detail: { ...found.detail, ...by } }) };
    },
  };
}

/** The query as texts, as a client sends it. */
function texts(query: object | undefined): Record<string, string> {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

function parsed(answer: object): unknown {
  const pieces = jsonPieces(answer);
  if (pieces === null) return answer;
  const sizeBytes = pieces.reduce((sum, { length }) => sum + length, 0);
  if (sizeBytes <= maxAnswerBytes) return JSON.parse(Buffer.concat(pieces).toString('utf8'));
  throw new Fault('exhausted', 'there are too many changes for one answer', { hint: 'Name paths.' });
}
