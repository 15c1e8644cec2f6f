import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { candidatesAt } from '../../../client/completion/candidates.ts';
import { shells } from '../../../client/completion/script.ts';
import { connectRunning } from '../../../client/connect/connect.ts';
import { FirstBytes } from '../../../lib/process/collect.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { execInside } from './stream/exec.ts';

const patienceMs = 500;
/** Longer, because a program has to start inside the sandbox. */
const patienceInsideMs = 3000;
const maxBytes = 64 * 1024;

const harmless = /^[\w@%+=,./-]+$/;

/**
 * Prints what can follow the words up to the cursor, for completion scripts. It is quick, prints nothing on an error, and
 * starts no daemon.
 */
export async function complete(context: Context, { args, command }: Invocation): Promise<void> {
  const shell = shells.get(args[0] ?? '');
  const typed = shell?.words(command) ?? [];
  if (shell === undefined || typed.length === 0) return;
  const found = await candidatesAt(context.table, typed, (kind, of) => names(context, kind, of));
  context.out.print(...shell.lines(found, command));
}

/** Prints names for completion scripts that an older build wrote. */
export async function printNames(context: Context, { args }: Invocation): Promise<void> {
  const [kind, of] = args;
  context.out.print(...(await names(context, kind ?? 'sandboxes', of)));
}

async function names(context: Context, kind: string, of = ''): Promise<readonly string[]> {
  try {
    return await listed(context, kind, of);
  } catch {
    // No daemon runs, or the kind is unknown: there are no names, ignoring.
    return [];
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
