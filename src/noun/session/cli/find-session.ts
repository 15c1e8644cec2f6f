/** Finds the session that a command means. */

import { existsSync, realpathSync, statSync } from 'node:fs';
import type { Client } from '../../../client/client.ts';
import { absolute } from '../../../client/paths.ts';
import { Fault } from '../../../model/fault.ts';
import { printable, sandboxNamePattern } from '../../../model/name.ts';
import { sessionAgentLabel } from '../../agent/model/agent.ts';
import type { SandboxView } from '../../sandbox/api.ts';
import type { SessionView } from '../api.ts';
import type { Place, SessionCalls } from './session-calls.ts';

const shortestId = 6;

export interface SessionChoice {
  readonly agent?: string;
  readonly session?: string;
  readonly new?: boolean;
}

/** Finds a session by its id, or a unique beginning or end of it; without an id, the newest open session. */
export async function findSession(calls: SessionCalls, sandbox: string, id?: string): Promise<SessionView> {
  const sessions = await calls.of(sandbox);
  const found = id === undefined ? newest(sessions) : named(sessions, id, sandbox);
  if (found) return found;
  throw new Fault('not_found', `the sandbox ${sandbox} has no open session`, {
    hint: `Begin one with: carrel session send ${sandbox} TEXT, or carrel chat ${sandbox}`,
  });
}

/** The session that was named, else the newest open session of the agent, else a new one. */
export async function sessionFor(calls: SessionCalls, sandbox: string, options: SessionChoice): Promise<SessionView> {
  const { session, agent } = options;
  if (session !== undefined) return findSession(calls, sandbox, session);
  const open = options.new ? undefined : newest(await calls.of(sandbox), agent);
  return open ?? calls.create(sandbox, agent === undefined ? {} : { agent });
}

export function placeOf({ sandbox, sessionId }: SessionView): Place {
  return { sandbox, id: sessionId };
}

function newest(sessions: readonly SessionView[], agent?: string): SessionView | undefined {
  return sessions
    .filter((one) => one.state !== 'closed' && (agent === undefined || one.agent === agent))
    .toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))[0];
}

function named(sessions: readonly SessionView[], id: string, sandbox: string): SessionView {
  const wanted = id.toUpperCase();
  const found = sessions.filter(({ sessionId }) => sessionId.startsWith(wanted) || sessionId.endsWith(wanted));
  if (found.length === 1 && wanted !== '') return found[0]!;
  const [what, ids] = found.length > 1 ? ['several sessions', found.map((one) => one.sessionId)] : ['no session', []];
  throw new Fault(found.length > 1 ? 'invalid' : 'not_found', `${what} of ${sandbox} match ${printable(id)}`, {
    hint: ids.length > 0 ? `They are ${ids.join(', ')}` : `carrel session ls ${sandbox} lists them.`,
  });
}

/** The shortest unique ends of ids: ids begin with the time, so new sessions share the beginning. */
export function shortIds(sessions: readonly SessionView[]): ReadonlyMap<string, string> {
  const ids = sessions.map(({ sessionId }) => sessionId);
  const isUnique = (end: string) => ids.filter((id) => id.endsWith(end)).length === 1;
  const short = (id: string) => {
    let length = shortestId;
    while (length < id.length && !isUnique(id.slice(-length))) length += 1;
    return id.slice(-length);
  };
  return new Map(ids.map((id) => [id, short(id)]));
}

interface ChatTarget {
  readonly session: SessionView;
  /** The folder of the project, or the name of a sandbox without a project. */
  readonly project: string;
}

/** Finds or creates the session for `carrel chat`: of a sandbox, or of a project. */
export async function chatTarget(
  client: Client,
  calls: SessionCalls,
  place: string,
  options: SessionChoice,
): Promise<ChatTarget> {
  const sandboxes = await client.call('GET /v1/sandboxes');
  const sandbox = sandboxes.find(({ name }) => name === place);
  if (sandbox) return { session: await sessionFor(calls, place, options), project: sandbox.project ?? place };
  const project = projectAt(place);
  return { session: await ofProject(calls, project, sandboxes, options), project };
}

async function ofProject(
  calls: SessionCalls,
  project: string,
  sandboxes: readonly SandboxView[],
  options: SessionChoice,
): Promise<SessionView> {
  const { agent } = options;
  const own = sandboxes.filter((one) => one.project === project && one.labels[sessionAgentLabel] !== undefined);
  const sessions = (await calls.all()).filter(({ sandbox }) => own.some(({ name }) => name === sandbox));
  if (options.session !== undefined) return named(sessions, options.session, project);
  const open = options.new ? undefined : newest(sessions, agent);
  return open ?? calls.createFor(project, agent === undefined ? {} : { agent });
}

function projectAt(place: string): string {
  const folder = absolute(place, 'PROJECT');
  if (existsSync(folder) && statSync(folder).isDirectory()) return realpathSync(folder);
  const what = sandboxNamePattern.test(place) ? 'neither a sandbox nor a folder' : 'not a folder';
  throw new Fault('not_found', `${printable(place)} is ${what}`, { hint: 'carrel ls lists sandboxes.' });
}
