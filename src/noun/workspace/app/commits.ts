/**
 * Brings the commits of an agent into the project's repository. Git runs inside the sandbox, where the agent's
 * configuration can do no harm; only a bundle comes out, which is checked before it is taken. An agent can keep git
 * waiting for ever, so there is a time-out, and a running sandbox can be stopped and removed meanwhile.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Process } from '../../../kernel/engine/engine.ts';
import { makeScratch } from '../../../kernel/home/home.ts';
import { removeTree } from '../../../lib/file/file.ts';
import { withTimeout } from '../../../lib/flow/with-timeout.ts';
import { LastBytes } from '../../../lib/process/collect.ts';
import { Fault } from '../../../model/fault.ts';
import { formatSize } from '../../../model/size.ts';
import { hasEnded, type Sandbox } from '../../sandbox/model.ts';
import type { ApplyView } from '../api.ts';
import { bundleBounds, bundleCommand, importBundle, isEmptyBundle, projectTips } from '../git/bundle/bundle.ts';
import { requireCurrentSandbox, type WorkspaceParts } from './workspaces.ts';

type Commit = ApplyView['commits'][number];

const maxStderrBytes = 64 * 1024;
const bundleMs = 60_000;

export async function fetchCommits(parts: WorkspaceParts, sandbox: Sandbox): Promise<Commit[]> {
  const project = sandbox.spec.project!;
  const tips = await projectTips(project);
  if (tips === null) return [];
  const scratch = makeScratch(parts.home);
  const bundle = join(scratch, 'bundle');
  const bounds = bundleBounds(sandbox.spec.limits);
  const spec = { command: bundleCommand(tips), env: {}, cwd: '/workspace', stdin: false, terminal: null };
  try {
    const wrote = await inside(parts, sandbox, async (id, handle) =>
      saveBundle(await parts.engineOf(sandbox).exec(id, handle, spec), bundle, { maxBytes: bounds.diskBytes }),
    );
    if (!wrote) return [];
    const taken = await importBundle({ project, name: sandbox.name, bundle, bounds });
    return taken.map((commit) => ({ sandbox: sandbox.name, ...commit }));
  } finally {
    await removeTree(scratch);
  }
}

/** Runs the task in the sandbox if it runs, otherwise in one like it; the sandbox cannot start during that. */
export async function inside<T>(
  parts: Pick<WorkspaceParts, 'store' | 'reconciler'>,
  sandbox: Sandbox,
  task: (id: string, handle: unknown) => Promise<T>,
): Promise<T> {
  const { id, status } = requireCurrentSandbox(parts, sandbox);
  if (status.state === 'running') {
    try {
      return await task(id, status.handle);
    } catch (error) {
      await parts.reconciler.settle(id);
      // A sandbox that has ended meanwhile took the task with it, or refused it.
      if (!hasEnded(requireCurrentSandbox(parts, sandbox).status)) throw error;
    }
  }
  return parts.reconciler.alone(id, async () => {
    const current = requireCurrentSandbox(parts, sandbox);
    if (!hasEnded(current.status)) throw new Fault('conflict', 'the sandbox was started meanwhile');
    return parts.reconciler.visit(current, task);
  });
}

interface Save {
  readonly maxBytes: number;
  readonly withinMs?: number;
}

/** Writes the output of git into a file. False: there is nothing that the project does not have. */
export async function saveBundle(
  git: Process,
  path: string,
  { maxBytes, withinMs = bundleMs }: Save,
): Promise<boolean> {
  try {
    return await withTimeout(withinMs, written(git, path, maxBytes), () => {
      throw new Fault('timeout', `git in the sandbox did not end within ${withinMs / 1000} seconds`);
    });
  } catch (error) {
    await end(git);
    throw error;
  }
}

/** Kills git. Its children may hold its output open, so the end of the output is not awaited. */
async function end(git: Process): Promise<void> {
  await git.signal('SIGKILL').catch(() => {});
  git.stdout.destroy();
  git.stderr.destroy();
}

async function written(git: Process, path: string, maxBytes: number): Promise<boolean> {
  git.stdin.end();
  const file = createWriteStream(path, { flags: 'w', mode: 0o600 });
  const [errors] = await Promise.all([lastErrors(git.stderr), pipeline(git.stdout, atMost(maxBytes), file)]);
  const { exitCode } = await git.exited;
  if (exitCode === 0) return true;
  if (isEmptyBundle(errors)) return false;
  const reason = errors.trim().split('\n').at(-1) || `it ended with ${exitCode}`;
  throw new Fault('invalid', `git in the sandbox could not bundle its commits: ${reason}`);
}

async function lastErrors(stderr: Readable): Promise<string> {
  const last = new LastBytes(maxStderrBytes);
  for await (const chunk of stderr) last.push(chunk);
  return last.bytes.toString('utf8');
}

/** Limits the size, because an agent may write without end. */
function atMost(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length;
      if (bytes > maxBytes)
        done(
          new Fault(
            'exhausted',
            `the commits of the sandbox take more than its limit of disk space, ${formatSize(maxBytes)}`,
          ),
        );
      else done(null, chunk);
    },
  });
}
