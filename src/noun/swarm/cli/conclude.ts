/** Shared by the commands about swarms. */

import type { Context } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import type { Output } from '../../../client/output/output.ts';
import { commandLine, plain } from '../../../client/output/text.ts';
import { absolute } from '../../../client/paths.ts';
import { catchSignals } from '../../../client/signals.ts';
import { faultTable } from '../../../model/fault.ts';
import type { SandboxRequest } from '../../sandbox/api.ts';
import { warnAboutFallback } from '../../sandbox/cli/fallback.ts';
import type { BegunSwarmView, SwarmView } from '../api.ts';
import { followSwarm } from './follow.ts';
import { openPullRequests } from './pull-request.ts';

/** The project of a swarm: the folder that was named, or the current folder. */
export function projectOf({ project }: { readonly project?: string }): string {
  return absolute(project ?? '.', '--project');
}

/** Waits for the containers that this command started, and only these. The exit code is 0 if all of them completed. */
export async function concludeSwarm(
  context: Context,
  client: Client,
  begun: BegunSwarmView,
  { detach = false, pr = false }: { readonly detach?: boolean; readonly pr?: boolean },
  sandbox: Partial<SandboxRequest>,
): Promise<number> {
  const { out } = context;
  const { begun: names } = begun;
  if (detach) {
    if (context.json) out.document(begun);
    else out.print(...names.map(plain));
    return 0;
  }
  const ended = await readAlong(context, client, begun.project, names);
  await warnLimits(out, client, sandbox, names);
  if (context.json) out.document(ended);
  const completed = ended.containers.filter(
    ({ containerName, status }) => status === 'completed' && names.includes(containerName),
  );
  const code = completed.length === names.length ? 0 : faultTable.conflict.exit;
  return pr ? (await openPullRequests(context, client, ended.project, completed)) || code : code;
}

/** Warns once about limits that cannot be enforced. Sandboxes that are already removed are skipped, ignoring. */
async function warnLimits(out: Output, client: Client, { limits }: Partial<SandboxRequest>, names: readonly string[]) {
  if (limits === undefined || Object.keys(limits).length === 0) return;
  for (const name of names) {
    const view = await client.call('GET /v1/sandboxes/{name}', { path: { name } }).catch(() => null);
    if (view) warnAboutFallback(out, { limits }, view);
  }
}

/** Follows the swarm until these containers have ended; prints nothing with --json. Ctrl-C only ends the following. */
export async function readAlong(
  { json, out }: Context,
  client: Client,
  project: string,
  names: readonly string[],
): Promise<SwarmView> {
  const giveBack = catchSignals(() => {
    const where = project === process.cwd() ? '' : ` --project ${commandLine([project])}`;
    out.note(`the swarm goes on; see it with: carrel swarm status${where} — stop it with: carrel swarm stop${where}`);
    process.exit(faultTable.cancelled.exit);
  });
  try {
    return await followSwarm(client, json ? await silentOutput() : out, project, names);
  } finally {
    giveBack();
  }
}

async function silentOutput(): Promise<Output> {
  const { Output } = await import('../../../client/output/output.ts');
  return new Output(true, { write: () => {} }, { write: () => {} });
}
