import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connectRunning } from '../../../client/connect/connect.ts';
import { FirstBytes } from '../../../lib/process/collect.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { execInside } from './stream/exec.ts';

const patienceMs = 500;
/** Longer, because a program has to start inside the sandbox. */
const patienceInsideMs = 3000;
const maxBytes = 64 * 1024;

const harmless = /^[\w@%+=,./-]+$/;

/** Prints names for completion scripts. It is quick, prints nothing on an error, and starts no daemon. */
export async function names(context: Context, { args }: Invocation): Promise<void> {
  const [kind = 'sandboxes', of = ''] = args;
  try {
    context.out.print(...(await listed(context, kind, of)));
  } catch {
    // No daemon runs, or the kind is unknown: it prints no names, ignoring.
  }
}

async function listed(context: Context, kind: string, of: string): Promise<readonly string[]> {
  const client = connectRunning(context);
  if (kind === 'snapshots') return snapshotsOf(client, checkSandboxName(of));
  if (kind === 'inside') return filesInside(client, of);
  const { list, pattern } = context.table.names[kind]!;
  const found = await list({ home: context.home, client, signal: AbortSignal.timeout(patienceMs) });
  return found.filter((name) => pattern.test(name));
}

/** The ids and labels of snapshots, which `restore` takes. */
async function snapshotsOf(client: Client, name: string): Promise<string[]> {
  const all = await client.call('GET /v1/sandboxes/{name}/snapshots', {
    path: { name },
    signal: AbortSignal.timeout(patienceMs),
  });
  return all.flatMap(({ id, label }) => [id, ...(label ? [label] : [])]).filter((word) => harmless.test(word));
}

const listing = 'for f in "$1"*; do if [ -d "$f" ]; then echo "$f/"; elif [ -e "$f" ]; then echo "$f"; fi; done';

/** The files in a running sandbox that begin with NAME:PATH; folders end with a slash. */
async function filesInside(client: Client, place: string): Promise<string[]> {
  const at = place.indexOf(':');
  const [name, path] = [checkSandboxName(place.slice(0, at)), place.slice(at + 1)];
  const found = new FirstBytes(maxBytes);
  const inside = { client, name, signal: AbortSignal.timeout(patienceInsideMs) };
  await execInside(inside, ['sh', '-c', listing, 'sh', path], { stdout: found.push, stderr: () => {} });
  const lines = found.bytes.toString('utf8').split('\n');
  return lines.filter((line) => harmless.test(line)).map((line) => `${name}:${line}`);
}
