/**
 * Creates a sandbox and a session in it, by one request. The id of the sandbox is a hash of the session's. So a
 * repeated request finds the sandbox of an earlier one whose answer was lost, continues with it, and creates no second
 * sandbox.
 */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { Fault } from '../../../model/fault.ts';
import { sessionAgentLabel } from '../../agent/model/agent.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import type { Sandboxes } from '../../sandbox/sandbox.ts';
import type { sandboxSessionRequest } from '../api.ts';
import { type AgentParts, agentNamed, requestFor } from './agents.ts';

export type WantedSession = z.output<typeof sandboxSessionRequest> & { readonly sessionId: string };

export interface CreationParts extends AgentParts {
  readonly sandboxes: Pick<Sandboxes, 'owner' | 'records' | 'project' | 'create' | 'check' | 'remove' | 'settled'>;
}

/** The sandbox for the session; `undo` is set if this call created it. */
export async function sandboxFor(
  wanted: WantedSession,
  parts: CreationParts,
): Promise<{ name: string; undo?: () => Promise<unknown> }> {
  const { sandboxes } = parts;
  const id = sandboxIdOf(sandboxes.owner, wanted.sessionId);
  const earlier = await earlierOne(id, wanted, parts);
  if (earlier !== null) return { name: earlier.name };
  const { project, name, sandbox, agent } = wanted;
  const request = { ...sandbox, project, ...(name === undefined ? {} : { name }) };
  const made = await sandboxes.create(
    requestFor(agent, request, parts, (one) => sandboxes.check(one)),
    id,
  );
  crashPoint('session.sandbox');
  return { name: made.name, undo: () => sandboxes.remove(made.name, { force: true, id }) };
}

function sandboxIdOf(owner: string, sessionId: string): string {
  return createHash('sha256').update(`${owner} ${sessionId}`).digest('hex').slice(0, 16);
}

/** Null: there is none, or it was just removed. */
async function earlierOne(id: string, wanted: WantedSession, { sandboxes }: CreationParts): Promise<Sandbox | null> {
  const row = sandboxes.records.withId(id);
  if (row === null) return null;
  await sandboxes.settled(row);
  const now = sandboxes.records.withId(id)?.value ?? null;
  if (now !== null) requireSame(now, wanted, sandboxes);
  return now;
}

function requireSame({ name, spec }: Sandbox, wanted: WantedSession, sandboxes: Pick<Sandboxes, 'project'>): void {
  const isSame =
    spec.project === sandboxes.project(wanted.project) &&
    spec.labels[sessionAgentLabel] === agentNamed(wanted.agent) &&
    (wanted.name ?? name) === name;
  if (isSame) return;
  throw new Fault('conflict', `the session ${wanted.sessionId} was created in ${name} by another request`, {
    hint: 'A new session needs a new id.',
  });
}
