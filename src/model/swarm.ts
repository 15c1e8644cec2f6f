/**
 * A swarm: the task files of one project that are being worked on, each by an agent in a sandbox of its own. The seeds call
 * such a sandbox a container, and so do the formats here.
 *
 *   pending → running → completed | failed | stopped
 *   failed | stopped → pending      only by `resume` or another `run`
 *
 * Completed means that the adapter's own completion record was read. That a process ended never means it.
 */
import { Fault } from './fault.ts';
import type { Completion, StoryStatus } from './swarm-message.ts';
import type { StoryProgress } from './task.ts';

export const containerNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$/;

export const containerStatuses = ['pending', 'running', 'completed', 'failed', 'stopped'] as const;
export type ContainerStatus = (typeof containerStatuses)[number];

export interface Swarm {
  readonly swarmId: string;
  /** The project's real folder. */
  readonly project: string;
  /** How many are worked on at once. */
  readonly max: number;
  readonly createdAt: string;
  /** Of the swarm itself; what was changed in it says so itself. */
  readonly updatedAt: string;
  /** Where its state is kept as a file, from the project's folder. */
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

/** What there is to know about a container that Carrel itself looks after. */
export interface ContainerWork {
  /** The name of its agent. */
  readonly agent: string;
  /** What to ask for to make its sandbox; as the API takes it. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly desired: 'running' | 'stopped';
  /** Counts the times it was begun. */
  readonly attempt: number;
  readonly startedAt: string | null;
  /** Why it ended as it did: `lost`, `no_completion`, or a code of the messages. */
  readonly reason: string | null;
  readonly errors: readonly string[];
  readonly completion: Completion | null;
  /** Of the record that an earlier attempt left: it says nothing about this one. */
  readonly staleRecord: string | null;
  /** Every story of the task file. */
  readonly stories: Readonly<Record<string, WorkedStory>>;
  readonly tips: readonly FetchedTip[];
  /** Stories that are completed for good: the task file said so from the start, or their commit is on the host. */
  readonly safe: readonly string[];
}

export interface SwarmContainer {
  readonly swarmId: string;
  readonly containerId: string;
  readonly containerName: string;
  /** From the project's folder. */
  readonly taskFilePath: string;
  readonly branchName: string;
  readonly status: ContainerStatus;
  readonly prUrl: string | null;
  readonly storyProgress: StoryProgress;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly acpPid: number | null;
  /** Of one that a script looks after: why it is as it is observed to be. */
  readonly reason?: string | null;
  /** Null: a script looks after it. */
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
      hint: from === 'failed' || from === 'stopped' ? 'Only a resume begins it again.' : `From ${from}, ${next}.`,
    });
  }
  return { ...container, ...change, updatedAt: at };
}

/** Of a container that was never begun. */
export function freshWork(given: Pick<ContainerWork, 'agent' | 'request' | 'stories'>): ContainerWork {
  return {
    ...given,
    desired: 'running',
    attempt: 1,
    startedAt: null,
    reason: null,
    errors: [],
    completion: null,
    staleRecord: null,
    tips: [],
    safe: Object.keys(given.stories).filter((id) => given.stories[id]!.status === 'completed'),
  };
}

/** Begun again: pending, with nothing of the last attempt but the stories. */
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

/** What is so of the sandbox of a container. */
export type ObservedContainer =
  | { readonly kind: 'absent' | 'waiting' | 'running' | 'paused' }
  | {
      readonly kind: 'exited';
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly outOfMemory: boolean;
    };

export interface ContainerOutcome {
  readonly status: ContainerStatus;
  readonly reason: string | null;
}

/**
 * What a recorded status becomes by what is observed; null: it stays. `waiting` has not been launched yet, which is no loss. A
 * completion that was read says how it ended, whatever became of the process afterwards.
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

/** The state as the seed's file has it. */
export function exportOf(swarm: Swarm, containers: readonly SwarmContainer[]): SwarmExport {
  const times = [swarm.updatedAt, ...containers.map(({ updatedAt }) => updatedAt)];
  return {
    swarmId: swarm.swarmId,
    createdAt: swarm.createdAt,
    updatedAt: times.sort().at(-1)!,
    containers: containers.map(entryOf),
  };
}

/** Null: there is nothing to say, or it did not fail. */
export function reasonOf({ status, work, reason }: Pick<SwarmContainer, 'status' | 'work' | 'reason'>): string | null {
  if (work === null) return reason ?? null;
  return work.reason ?? (status === 'failed' ? firstCause(work) : null);
}

/** What went wrong on the way, without repetitions. */
export function errorsOf({ errors, completion }: Pick<ContainerWork, 'errors' | 'completion'>): string[] {
  return [...new Set([...errors, ...(completion?.errors ?? [])])];
}

/** A connection that broke and was made again ended nothing. */
function firstCause(work: Pick<ContainerWork, 'errors' | 'completion'>): string | null {
  const errors = errorsOf(work);
  return errors.find((error) => !error.startsWith('ACP_CONNECTION_LOST')) ?? errors[0] ?? null;
}
