/** Any program: it gets the story on stdin; its exit code and last lines are the result. */

import { LastLines, maxLines } from '../../../agent/inside/last-lines.ts';
import type { CommandSpec } from '../../../agent/model/agent.ts';
import type { RunAgent } from '../inside.ts';
import { runAgent } from './run.ts';

/** Shells and engines report death by signal n as 128 + n. */
const firstSignalCode = 129;

export function commandAgent(spec: CommandSpec): RunAgent {
  return async (assignment, reporter, signal) => {
    const words = new LastLines();
    const take = (lines: readonly string[]) => {
      const last = lines.slice(-maxLines);
      words.add(...last);
      reporter.output(...last);
    };
    const input = spec.input === 'prompt' ? assignment.prompt : `${JSON.stringify(assignment.story)}\n`;
    const run = { command: spec.command, input, onOutput: take, onError: take };
    const exitCode = await runAgent(assignment, run, signal);
    const summary = words.toString();
    if (exitCode === 0) return { status: 'completed', summary, code: null };
    const failure = `${spec.command[0]} ended with ${exitCode}${summary && `: ${summary}`}`;
    return { status: 'failed', summary: failure, code: exitCode >= firstSignalCode ? 'AGENT_CRASH' : null };
  };
}
