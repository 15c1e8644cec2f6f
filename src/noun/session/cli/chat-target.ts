/** Finds or creates the session for `carrel chat`: of a sandbox, or of a project. */
import { existsSync, realpathSync, statSync } from 'node:fs';
import type { Client } from '../../../client/client.ts';
import { absolute } from '../../../client/paths.ts';
import { Fault } from '../../../model/fault.ts';
import { printable, sandboxNamePattern } from '../../../model/name.ts';
import { sessionAgentLabel } from '../../agent/model/agent.ts';
import type { SandboxView } from '../../sandbox/api.ts';
import type { SessionView } from '../api.ts';
import type { SessionCalls } from './calls.ts';
import { named, newest, type SessionChoice, sessionFor } from './find-session.ts';

export interface ChatTarget {
  readonly session: SessionView;
  /** The folder of the project, or the name of a sandbox without a project. */
  readonly project: string;
}

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
  throw new Fault('not_found', `${printable(place)} is ${what}`, { hint: 'carrel ls -a lists sandboxes.' });
}
