/** The Claude Code CLI without a terminal: the story on stdin, events on stdout, no permission prompts inside the sandbox. */

import { type FoundKey, keyEnv } from '../../../agent/inside/key.ts';
import { maxLines } from '../../../agent/inside/last-lines.ts';
import { type ClaudeSpec, claudeLogin } from '../../../agent/model/agent.ts';
import type { RunAgent } from '../inside.ts';
import { ClaudeStream } from './claude-stream.ts';
import { runAgent } from './run.ts';

const headless = ['-p', '--output-format', 'stream-json', '--verbose', '--permission-mode', 'bypassPermissions'];

export function claudeAgent(spec: ClaudeSpec, key: FoundKey | null): RunAgent {
  return async (assignment, reporter, signal) => {
    const stream = new ClaudeStream();
    const run = {
      command: [...spec.command, ...headless, ...keySettings(key)],
      input: assignment.prompt,
      onOutput: (lines: readonly string[]) => {
        reporter.active();
        for (const line of lines) reporter.output(...stream.take(line));
      },
      onError: (lines: readonly string[]) => stream.addOther(...lines.slice(-maxLines)),
    };
    return stream.end(await runAgent(assignment, run, signal));
  };
}

function keySettings(key: FoundKey | null): string[] {
  return key?.file && isRead(key) ? ['--settings', JSON.stringify({ apiKeyHelper: `cat ${key.file}` })] : [];
}

export function claudeEnv(key: FoundKey | null): Readonly<Record<string, string>> {
  return key !== null && isRead(key) ? {} : keyEnv(key);
}

/** The CLI runs a command for an API key, so that the key is in no environment. It reads the token of an account from its variable. */
function isRead({ variable }: FoundKey): boolean {
  return variable !== claudeLogin;
}
