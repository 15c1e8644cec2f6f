/**
 * The commits an agent made, brought into the project's repository. Git runs inside the sandbox, where whatever the
 * agent configured can do no harm; only a bundle comes out, and it is checked before it is let in.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { ApplyView } from '../api/routes.ts';
import type { Process } from '../engine/engine.ts';
import { removeTree } from '../lib/file.ts';
import { Fault } from '../model/fault.ts';
import type { Sandbox } from '../model/sandbox.ts';
import { bundleCommand, isEmptyBundle, projectTips, takeBundle } from '../workspace/git/bundle.ts';
import { makeScratch } from './home.ts';
import type { WorkspaceParts } from './workspaces.ts';

type Commit = ApplyView['commits'][number];

const maxBundleBytes = 2 * 1024 ** 3;
const maxSaidBytes = 64 * 1024;

export async function fetchCommits(parts: WorkspaceParts, sandbox: Sandbox): Promise<Commit[]> {
  const project = sandbox.spec.project!;
  const tips = await projectTips(project);
  if (tips === null) return [];
  const scratch = makeScratch(parts.home);
  const bundle = join(scratch, 'bundle');
  try {
    const wrote = await inside(parts, sandbox, (id, handle) => writeBundle(parts, id, handle, tips, bundle));
    if (!wrote) return [];
    const taken = await takeBundle({ project, name: sandbox.name, bundle });
    return taken.map((commit) => ({ sandbox: sandbox.name, ...commit }));
  } finally {
    await removeTree(scratch);
  }
}

/** In the sandbox itself while it runs, else in one like it. */
function inside<T>(
  { store, reconciler }: WorkspaceParts,
  { id }: Sandbox,
  task: (id: string, handle: unknown) => Promise<T>,
): Promise<T> {
  return reconciler.alone(id, () => {
    const sandbox = store.get('sandbox', id)?.value;
    if (!sandbox) throw new Fault('not_found', 'the sandbox was removed meanwhile');
    const { state, handle } = sandbox.status;
    return state === 'running' ? task(id, handle) : reconciler.visit(sandbox, task);
  });
}

/** False when there is nothing that the project does not have. */
async function writeBundle(
  { engine }: WorkspaceParts,
  id: string,
  handle: unknown,
  tips: readonly string[],
  path: string,
): Promise<boolean> {
  const command = bundleCommand(tips);
  const spec = { command, env: {}, cwd: '/workspace', stdin: false, terminal: null };
  const process = await engine.exec(id, handle, spec);
  process.stdin.end();
  const [said] = await Promise.all([lastWords(process), save(process, path)]);
  const { exitCode } = await process.exited;
  if (exitCode === 0) return true;
  if (isEmptyBundle(said)) return false;
  throw new Fault('invalid', `git could not bundle its commits: ${said.trim().split('\n').at(-1) ?? exitCode}`);
}

async function lastWords({ stderr }: Process): Promise<string> {
  let said = '';
  for await (const chunk of stderr) said = (said + (chunk as Buffer).toString('utf8')).slice(-maxSaidBytes);
  return said;
}

/** An agent may write without end. */
async function save(process: Process, path: string): Promise<void> {
  const file = createWriteStream(path, { flags: 'w', mode: 0o600 });
  let bytes = 0;
  for await (const chunk of process.stdout) {
    bytes += (chunk as Buffer).length;
    if (bytes > maxBundleBytes) {
      await process.signal('SIGKILL').catch(() => {});
      file.destroy();
      throw new Fault('exhausted', `its commits take more than ${maxBundleBytes} bytes`);
    }
    if (!file.write(chunk)) await new Promise<void>((resolve) => file.once('drain', () => resolve()));
  }
  await new Promise<void>((resolve, reject) => file.once('error', reject).end(() => resolve()));
}
