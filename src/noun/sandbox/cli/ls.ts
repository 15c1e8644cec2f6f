import { homedir } from 'node:os';
import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import type { Output } from '../../../client/output/output.ts';
import { during } from '../../../client/output/progress.ts';
import { table } from '../../../client/output/table.ts';
import { commandLine, plain } from '../../../client/output/text.ts';
import { formatSize } from '../../../model/size.ts';
import { terminalAgentLabel } from '../../agent/model/agent.ts';
import type { SandboxView } from '../api.ts';
import { paintState, warnUnseen } from './state.ts';

/** `sizeBytes` is set with `--size`; null: it could not be measured. */
type Listed = SandboxView & { readonly sizeBytes?: number | null };

interface Options {
  readonly quiet?: boolean;
  readonly size?: boolean;
  readonly allUsers?: boolean;
}

export async function ls(context: Context, { options }: Invocation<Options>): Promise<void> {
  const sandboxes = await during(context.out, 'measuring the sandboxes', list(context, options));
  if (context.json) return context.out.document(sandboxes);
  if (options.quiet) return context.out.print(...sandboxes.map(({ name }) => plain(name)));
  if (sandboxes.length === 0) return context.out.note('no sandboxes; make one with: carrel run -- uname -a');
  context.out.print(...listing(sandboxes, context.out, Date.now(), options.allUsers));
  warnUnseen(context.out, sandboxes);
}

async function list(context: Context, { size, allUsers }: Options): Promise<Listed[]> {
  const client = connect(context);
  const sandboxes = await client.call('GET /v1/sandboxes', { query: allUsers ? { allUsers } : {} });
  if (!size) return sandboxes;
  if (!allUsers) return measured(client, sandboxes);
  const users = [...new Set(sandboxes.map(({ user }) => user))];
  const measuredOf = (user: string) => {
    const own = sandboxes.filter((sandbox) => sandbox.user === user);
    return measured(connect({ ...context, user }), own);
  };
  return (await Promise.all(users.map(measuredOf))).flat();
}

/** Sizes are listed by name, and names are unique for one user only, so the client must be of the sandboxes' user. */
async function measured(client: Client, sandboxes: readonly SandboxView[]): Promise<Listed[]> {
  const sizes = new Map((await client.call('GET /v1/sizes')).map(({ name, sizeBytes }) => [name, sizeBytes]));
  return sandboxes.map((sandbox) => ({ ...sandbox, sizeBytes: sizes.get(sandbox.name) ?? null }));
}

export function listing(sandboxes: readonly Listed[], out: Output, now?: number, allUsers = false): string[] {
  const rows = sandboxes.map((sandbox) => [
    ...(allUsers ? [plain(sandbox.user)] : []),
    plain(sandbox.name),
    paintState(out, sandbox.state),
    ...sizeCell(sandbox),
    sandbox.project === null ? '-' : plain(shortPath(sandbox.project)),
    commandCell(sandbox),
    age(sandbox.createdAt, now),
    exitCell(sandbox),
  ]);
  const size = sandboxes.some(({ sizeBytes }) => sizeBytes !== undefined) ? ['SIZE'] : [];
  return table([
    [...(allUsers ? ['USER'] : []), 'NAME', 'STATE', ...size, 'PROJECT', 'COMMAND', 'AGE', 'EXIT'],
    ...rows,
  ]);
}

function sizeCell({ sizeBytes }: Listed): string[] {
  if (sizeBytes === undefined) return [];
  return [sizeBytes === null ? '-' : formatSize(sizeBytes)];
}

/** A terminal agent is started by a program of Carrel, so the name of the agent says more than the command. */
function commandCell({ command, labels }: SandboxView): string {
  const agent = labels[terminalAgentLabel];
  if (agent !== undefined) return plain(agent);
  return command.length === 0 ? '-' : commandLine(command);
}

function exitCell({ exitCode, reason }: SandboxView): string {
  const words = [exitCode === null ? '' : String(exitCode), plain(reason ?? '')];
  return words.filter((word) => word !== '').join(' ') || '-';
}

function shortPath(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
