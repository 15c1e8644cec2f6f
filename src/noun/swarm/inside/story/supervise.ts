/** Runs an agent on one story with time-outs: for the whole story, for silence, and for a lost service. */

import { AdapterError } from '../../../agent/inside/adapter-error.ts';
import { LastLines, maxLines } from '../../../agent/inside/last-lines.ts';
import type { AgentResult, Assignment, RunAgent } from '../inside.ts';
import { type Probe, ServiceWatch } from './service-watch.ts';

export interface StoryLimits {
  readonly storyMs: number | null;
  readonly stallMs: number | null;
}

export interface Watched {
  readonly runAgent: RunAgent;
  readonly assignment: Assignment;
  readonly limits: StoryLimits;
  /** Checks the service of the agent; null: none is known. */
  readonly probe: Probe | null;
  readonly say: (words: () => string) => void;
  /** The whole output, for the log. */
  readonly log: (lines: readonly string[]) => void;
}

export async function supervise(watched: Watched, signal: AbortSignal): Promise<AgentResult> {
  const { runAgent, assignment, limits, probe, say, log } = watched;
  const ended = new AbortController();
  const words = new LastLines();
  const end = (what: string) => ended.abort(new AdapterError('CONTAINER_TIMEOUT', what));
  const whole = timer(limits.storyMs, (ms) => end(`the agent worked for more than ${ms / 1000} s`));
  const stall = timer(limits.stallMs, (ms) => end(`the agent printed nothing for ${ms / 1000} s`));
  const service = new ServiceWatch(probe, (error) => ended.abort(error));
  const reporter = {
    active: () => stall.again(),
    output: (...lines: readonly string[]) => {
      stall.again();
      service.restart();
      log(lines);
      words.add(...lines.slice(-maxLines));
      say(() => words.toString());
    },
  };
  try {
    const result = await runAgent(assignment, reporter, AbortSignal.any([signal, ended.signal]));
    ended.signal.throwIfAborted();
    return result;
  } finally {
    whole.cancel();
    stall.cancel();
    service.dispose();
  }
}

/** Timers are not affected when the clock is set. */
function timer(ms: number | null, call: (ms: number) => void): { again(): void; cancel(): void } {
  if (ms === null) return { again: () => {}, cancel: () => {} };
  const timeout = setTimeout(() => call(ms), ms);
  return { again: () => timeout.refresh(), cancel: () => clearTimeout(timeout) };
}
