/**
 * A driver: one agent process with one session open. It ends with its process; the session then starts another one, which loads what the agent
 * remembers. A driver never decides: it reports what the agent does to its `Recorder`, and waits for it, so that an agent cannot be faster than the disk.
 */
import type { ContentBlock, EventData, EventType, Question, QuestionAnswer, StopReason } from '../../model/session.ts';

/** What `agent.json` keeps about the agent of a session. */
export interface AgentRecord {
  readonly agentSessionId?: string;
  /** The agent's session that this one will be a fork of. */
  readonly forkOf?: string;
  readonly mode?: string;
  readonly model?: string;
  /** The agent's process and its start time in ticks, so that the next agent API can end an orphan. */
  readonly process?: { readonly pid: number; readonly startTime: string };
}

export interface Recorder {
  /** Resolves when the next event may follow, which may be before this one is on disk. A fault ends the turn. */
  record<T extends EventType>(type: T, data: EventData[T]): Promise<void>;
  /** Resolves to the answer of a person. */
  ask(question: Omit<Question, 'pendingId'>): Promise<QuestionAnswer>;
  remember(change: Partial<AgentRecord>): Promise<void>;
}

export interface DriverOptions {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string;
  readonly known: AgentRecord;
  /** The session has earlier turns, which the agent should remember. */
  readonly hasHistory: boolean;
}

export interface Driver {
  /** True: a restarted agent can load its session. */
  readonly canLoad: boolean;
  /** Resolves to why the process ended. */
  readonly ended: Promise<string>;
  /** Rejects with `AgentLost` when the process ends first, or had ended. */
  prompt(content: readonly ContentBlock[]): Promise<StopReason>;
  cancel(): void;
  setMode(mode: string): Promise<void>;
  setModel(model: string): Promise<void>;
  stop(): Promise<void>;
}

export type StartDriver = (options: DriverOptions, recorder: Recorder) => Promise<Driver>;
