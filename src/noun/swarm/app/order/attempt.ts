/**
 * Another attempt at a task file: its options take effect in the existing sandbox, or are refused before anything
 * begins.
 */

import { Fault } from '../../../../model/fault.ts';
import { requireRoute } from '../../../agent/agent.ts';
import type { Granted } from '../../../grant-table.ts';
import { noNetwork } from '../../../network/model/network.ts';
import type { SandboxRequest } from '../../../sandbox/api.ts';
import type { SandboxSpec } from '../../../sandbox/model.ts';
import type { Sandboxes } from '../../../sandbox/sandbox.ts';
import { agentGrantFields } from '../../../table.ts';
import { isActive, type SwarmContainer } from '../../model/swarm.ts';
import type { TaskFile } from '../../model/task.ts';
import {
  agentOf,
  choiceAgain,
  defaultAgent,
  type NewWork,
  type OrderParts,
  type RunChoice,
  requestFor,
} from './order.ts';

export interface PlannedWork {
  readonly work: NewWork;
  /** The container that already has the file. */
  readonly before: SwarmContainer | null;
}

/** An attempt that was checked and has not begun. */
export interface WorkAttempt {
  readonly container: SwarmContainer;
  readonly file: TaskFile;
  readonly choice: RunChoice;
  readonly request: SandboxRequest;
  /** The change of the existing sandbox; null: there is no sandbox. */
  readonly change: Partial<SandboxSpec> | null;
}

export interface AttemptParts extends OrderParts {
  readonly sandboxes: Pick<Sandboxes, 'check' | 'rows'>;
}

export function attemptsAt(
  project: string,
  entries: readonly PlannedWork[],
  order: RunChoice,
  parts: AttemptParts,
): WorkAttempt[] {
  return entries.flatMap(({ work, before }) => {
    if (!before?.work) return [];
    const choice = choiceAgain(before.work, order);
    const request = requestFor(project, choice, parts);
    const spec = parts.sandboxes.check(request);
    const change = specChange(before, spec, order, parts);
    checkRoute(choice, request, change ?? spec, parts);
    return [{ container: before, file: work.file, choice, request, change }];
  });
}

export function checkRoute(
  { agent = defaultAgent }: RunChoice,
  request: SandboxRequest,
  { network }: Pick<SandboxSpec, 'network'>,
  parts: OrderParts,
): void {
  requireRoute(agent, agentOf(agent, parts.config), request, network?.allow ?? [], parts);
}

/** Null: it has no sandbox yet. What a sandbox is made of cannot change; rules that were changed meanwhile stay. */
function specChange(
  { containerId, containerName }: SwarmContainer,
  after: SandboxSpec,
  { sandbox }: RunChoice,
  { sandboxes }: AttemptParts,
) {
  const row = sandboxes.rows().find(({ id }) => id === containerId);
  if (row === undefined) return null;
  const { spec: before } = row.value;
  const fixed = (['engine', 'image', 'rootfs', 'runtime'] as const).find(
    (field) => sandbox?.[field] !== undefined && before[field] !== after[field],
  );
  if (fixed !== undefined) throw beganOtherwise(containerName, fixed, before[fixed] ?? null);
  const { env, secrets = [], credentials = [], services = [], limits, demanded, command } = after;
  const grants = Object.fromEntries(agentGrantFields.map((field) => [field, after[field] ?? []])) as Granted;
  const granted = { secrets, credentials, services, ...grants };
  const network = { ...noNetwork, ...before.network };
  const allow = sandbox?.network === undefined ? network.allow : (after.network?.allow ?? []);
  return { env, ...granted, limits, demanded, command, network: { ...network, allow } };
}

function beganOtherwise(containerName: string, field: string, before: string | null): Fault {
  const was = before === null ? `without --${field}` : `with --${field} ${before}`;
  return new Fault('conflict', `the sandbox of ${containerName} was created ${was}, and that cannot change`, {
    hint: `Create it again: carrel swarm rm ${containerName}, then carrel swarm run; finished stories stay finished.`,
  });
}

/** Refuses a container that a script manages or that is at work. */
export function refuseAgain({ containerName, taskFilePath, work, status }: SwarmContainer): void {
  if (work === null) {
    throw new Fault('conflict', `a script manages ${containerName}, which works on ${taskFilePath}`, {
      hint: `Remove its record first: carrel swarm rm ${containerName}`,
    });
  }
  if (!isActive({ status })) return;
  throw new Fault('conflict', `${containerName} is at work on ${taskFilePath} already`, {
    hint: `See it with: carrel swarm status — stop it with: carrel swarm stop ${containerName}`,
  });
}
