/**
 * `git merge-file` on copies in a private folder. It runs outside of any repository and without any configuration, so
 * neither the agent nor the project can change how it merges.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scratchFolder } from '../../../../lib/file/scratch.ts';
import { spawnFault } from '../../../../lib/process/run.ts';
import { Fault } from '../../../../model/fault.ts';
import { plainEnv } from '../../git/git.ts';

export const maxMergeBytes = 4 * 1024 * 1024;
const mergeMs = 60_000;

export interface MergeInput {
  readonly base: Uint8Array;
  readonly project: Uint8Array;
  readonly agent: Uint8Array;
  readonly projectLabel: string;
  readonly agentLabel: string;
}

export interface Merged {
  readonly bytes: Buffer;
  /** False: both sides changed the same lines, and `bytes` has markers around them. */
  readonly clean: boolean;
}

export function mergeFile(input: MergeInput): Merged {
  const folder = mkdtempSync(join(scratchFolder(), 'carrel-merge-'));
  try {
    writeFileSync(join(folder, 'project'), input.project, { mode: 0o600 });
    writeFileSync(join(folder, 'base'), input.base, { mode: 0o600 });
    writeFileSync(join(folder, 'agent'), input.agent, { mode: 0o600 });
    return runMerge(folder, input);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runMerge(folder: string, { projectLabel, agentLabel }: MergeInput): Merged {
  const labels = ['-L', projectLabel, '-L', 'base', '-L', agentLabel];
  const ran = spawnSync('git', ['merge-file', '-p', '--diff3', ...labels, 'project', 'base', 'agent'], {
    cwd: folder,
    env: { ...plainEnv, GIT_CEILING_DIRECTORIES: dirname(folder) },
    maxBuffer: 8 * maxMergeBytes,
    timeout: mergeMs,
    killSignal: 'SIGKILL',
  });
  if (ran.error) throw spawnFault('git', ran.error);
  // The status is the number of conflicts, 127 at most.
  if (ran.status === null || ran.status > 127)
    throw new Fault('internal', `git merge-file failed: ${ran.stderr.toString().trim()}`);
  return { bytes: ran.stdout, clean: ran.status === 0 };
}
