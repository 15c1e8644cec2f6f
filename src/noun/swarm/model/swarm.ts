/**
 * A swarm: the task files of one project that are being worked on, each by an agent in a sandbox of its own. The format
 * of swarm-state.json calls such a sandbox a container, and so do the names here.
 *
 *   pending → running → completed | failed | stopped
 *   failed | stopped → pending      only by `resume` or another `run`
 *
 * A container is completed only if the adapter's completion record was read, never because a process ended.
 */

import { Fault } from '../../../model/fault.ts';
import type { ObservedContainer } from '../../../model/foreign-container.ts';
import type { Completion, StoryStatus } from './message.ts';
import type { StoryProgress } from './task.ts';

export const containerNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$/;

export const containerStatuses = ['pending', 'running', 'completed', 'failed', 'stopped'] as const;
export type ContainerStatus = (typeof containerStatuses)[number];

export interface Swarm {
  readonly swarmId: string;
  /** The project's real folder. */
  readonly project: string;
  /** The number of containers that run at the same time. */
  readonly max: number;
  readonly createdAt: string;
  /** The last change of the swarm itself; its containers have their own times. */
  readonly updatedAt: string;
  /** The path of its state file, relative to the project. */
  readonly stateFile?: string | null;
}

export interface WorkedStory {
  readonly status: StoryStatus;
  readonly output: string;
}

/** A commit that was fetched to the host. */
export interface FetchedTip {
  readonly ref: string;
  readonly commit: string;
  readonly subject: string;
  /** Commits that the project did not have. */
  readonly ahead: number;
}

/** The record of a container that Carrel manages. */
export interface AddedGrants {
  readonly secrets: readonly string[];
  readonly credentials: readonly string[];
}

export interface ContainerWork {
  /** The name of its agent. */
  readonly agent: string;
  /** The API request that creates its sandbox. */
  readonly request: Readonly<Record<string, unknown>>;
  /** What was added to the request for the agent's key. Another attempt decides again. */
  readonly added?: AddedGrants;
  readonly desired: 'running' | 'stopped';
  /** Counts its starts. */
  readonly attempt: number;
  readonly startedAt: string | null;
  /** Why it ended: `lost`, `no_completion`, or a code of the messages. */
  readonly reason: string | null;
  readonly errors: readonly string[];
  readonly completion: Completion | null;
  /** The digest of the adapter's record of an earlier attempt, which is ignored in this one. */
  readonly staleRecord: string | null;
  /** Every story of the task file. */
  readonly stories: Readonly<Record<string, WorkedStory>>;
  readonly tips: readonly FetchedTip[];
  /** Stories that stay completed: the task file said so from the start, or their commit is on the host. */
  readonly safe: readonly string[];
}

export interface SwarmContainer {
  readonly swarmId: string;
  readonly containerId: string;
  readonly containerName: string;
  /** Relative to the project. */
  readonly taskFilePath: string;
  readonly branchName: string;
  readonly status: ContainerStatus;
  readonly prUrl: string | null;
  readonly storyProgress: StoryProgress;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly acpPid: number | null;
  /** For a container that a script manages: the reason of its observed state. */
  readonly reason?: string | null;
  /** Null: a script manages it. */
  readonly work: ContainerWork | null;
}

export function isActive({ status }: Pick<SwarmContainer, 'status'>): boolean {
  return status === 'pending' || status === 'running';
}

const legal: { readonly [status in ContainerStatus]: readonly ContainerStatus[] } = {
  pending: ['running', 'failed', 'stopped'],
  running: ['completed', 'failed', 'stopped'],
  completed: [],
  failed: [],
  stopped: [],
};

/** The container with a change; an illegal transition is refused. */
export function withChange(container: SwarmContainer, change: Partial<SwarmContainer>, at: string): SwarmContainer {
  const { status: from, containerName } = container;
  const to = change.status ?? from;
  if (to !== from && !legal[from].includes(to)) {
    const next = legal[from].length > 0 ? `it can become ${legal[from].join(' or ')}` : 'it never changes';
    throw new Fault('conflict', `${containerName} is ${from} and cannot become ${to}`, {
      hint:
        from === 'failed' || from === 'stopped'
          ? `Start it again: carrel swarm resume ${containerName}`
          : `From ${from}, ${next}.`,
    });
  }
  return { ...container, ...change, updatedAt: at };
}

/** The record of a container that was never started. */
export function freshWork(initial: Pick<ContainerWork, 'agent' | 'request' | 'added' | 'stories'>): ContainerWork {
  return {
    ...initial,
    desired: 'running',
    attempt: 1,
    startedAt: null,
    reason: null,
    errors: [],
    completion: null,
    staleRecord: null,
    tips: [],
    safe: Object.keys(initial.stories).filter((id) => initial.stories[id]!.status === 'completed'),
  };
}

/** The container for a new attempt: pending, with the stories and the fetched commits of the last one. */
export function renewed(container: SwarmContainer, work: ContainerWork, at: string): SwarmContainer {
  if (isActive(container)) throw new Fault('conflict', `${container.containerName} is ${container.status} already`);
  return {
    ...container,
    status: 'pending',
    acpPid: null,
    updatedAt: at,
    work: { ...freshWork(work), attempt: work.attempt + 1, tips: work.tips },
  };
}

export interface ContainerOutcome {
  readonly status: ContainerStatus;
  readonly reason: string | null;
}

/**
 * The new status for a recorded one and an observed state; null: it stays. A `waiting` sandbox has not been launched
 * yet, so a pending container is not lost. A completion that was read decides the status, whatever happened to the
 * process afterwards.
 */
export function reconciled(
  { status, completion }: { readonly status: ContainerStatus; readonly completion: Completion | null },
  observed: ObservedContainer,
): ContainerOutcome | null {
  if (status !== 'pending' && status !== 'running') return null;
  if (completion !== null) return { status: completion.status, reason: null };
  switch (observed.kind) {
    case 'waiting':
      return status === 'pending' ? null : { status: 'failed', reason: 'lost' };
    case 'absent':
      return { status: 'failed', reason: 'lost' };
    case 'running':
      return status === 'pending' ? { status: 'running', reason: null } : null;
    case 'paused':
      return { status: 'stopped', reason: null };
    case 'exited':
      return { status: 'failed', reason: exitReason(observed) };
  }
}

function exitReason({ exitCode, signal, outOfMemory }: Extract<ObservedContainer, { kind: 'exited' }>): string {
  if (outOfMemory) return 'CONTAINER_OOM';
  if (signal !== null) return `AGENT_CRASH: ended by ${signal}`;
  return exitCode === 0 ? 'no_completion' : `AGENT_CRASH: ended with ${exitCode ?? 'an unknown code'}`;
}

export type SwarmEntry = Omit<SwarmContainer, 'swarmId' | 'work' | 'reason'> & { readonly reason: string | null };

export interface SwarmExport {
  readonly swarmId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly containers: readonly SwarmEntry[];
}

export function entryOf(container: SwarmContainer): SwarmEntry {
  const { swarmId: _, work: __, ...entry } = container;
  return { ...entry, reason: reasonOf(container) };
}

/** The state in the format of `swarm export`. */
export function exportOf(swarm: Swarm, containers: readonly SwarmContainer[]): SwarmExport {
  const times = [swarm.updatedAt, ...containers.map(({ updatedAt }) => updatedAt)];
  return {
    swarmId: swarm.swarmId,
    createdAt: swarm.createdAt,
    updatedAt: times.sort().at(-1)!,
    containers: containers.map(entryOf),
  };
}

/** Why the container ended, or has its observed state. Null: no reason is known, or it did not fail. */
export function reasonOf({ status, work, reason }: Pick<SwarmContainer, 'status' | 'work' | 'reason'>): string | null {
  if (work === null) return reason ?? null;
  return work.reason ?? (status === 'failed' ? firstCause(work) : null);
}

/** The errors of the work and of its completion, without repetitions. */
export function errorsOf({ errors, completion }: Pick<ContainerWork, 'errors' | 'completion'>): string[] {
  return [...new Set([...errors, ...(completion?.errors ?? [])])];
}

/**
 * The first error that can have ended the work: not a connection that broke and was made again, if there is another
 * error.
 */
function firstCause(work: Pick<ContainerWork, 'errors' | 'completion'>): string | null {
  const errors = errorsOf(work);
  return errors.find((error) => !error.startsWith('ACP_CONNECTION_LOST')) ?? errors[0] ?? null;
}
