import { homedir } from 'node:os';
import type { Client } from '../../api/client.ts';
import type { SandboxView } from '../../api/routes.ts';
import { formatSize } from '../../model/size.ts';
import type { Context, Invocation } from '../context.ts';
import { connect } from '../daemon.ts';
import { age } from '../output/age.ts';
import type { Output } from '../output/output.ts';
import { during } from '../output/progress.ts';
import { paintState } from '../output/state.ts';
import { table } from '../output/table.ts';
import { commandLine, cut, plain } from '../output/text.ts';

const commandColumns = 40;

/** The size is there when it was asked for; null where it could not be told. */
type Listed = SandboxView & { readonly sizeBytes?: number | null };

export default async function ls(context: Context, { options }: Invocation<{ size?: boolean }>): Promise<void> {
  const client = connect(context);
  const asked = options.size ? measured(client) : client.call('listSandboxes');
  const sandboxes = await during(context.out, 'measuring the sandboxes', asked);
  if (context.json) return context.out.document(sandboxes);
  if (sandboxes.length === 0) return context.out.note('no sandboxes; make one with: carrel run -- uname -a');
  context.out.print(...listing(sandboxes, context.out));
}

async function measured(client: Client): Promise<Listed[]> {
  const sandboxes = await client.call('listSandboxes');
  const sizes = new Map((await client.call('sandboxSizes')).map(({ name, sizeBytes }) => [name, sizeBytes]));
  return sandboxes.map((sandbox) => ({ ...sandbox, sizeBytes: sizes.get(sandbox.name) ?? null }));
}

export function listing(sandboxes: readonly Listed[], out: Output, now?: number): string[] {
  const rows = sandboxes.map((sandbox) => [
    plain(sandbox.name),
    paintState(out, sandbox.state),
    ...sizeCell(sandbox),
    sandbox.project === null ? '-' : plain(shortPath(sandbox.project)),
    sandbox.command.length === 0 ? '-' : cut(commandLine(sandbox.command), commandColumns),
    age(sandbox.createdAt, now),
    exitCell(sandbox),
  ]);
  const size = sandboxes.some(({ sizeBytes }) => sizeBytes !== undefined) ? ['SIZE'] : [];
  return table([['NAME', 'STATE', ...size, 'PROJECT', 'COMMAND', 'AGE', 'EXIT'], ...rows]);
}

function sizeCell({ sizeBytes }: Listed): string[] {
  if (sizeBytes === undefined) return [];
  return [sizeBytes === null ? '-' : formatSize(sizeBytes)];
}

function exitCell({ exitCode, reason }: SandboxView): string {
  const words = [exitCode === null ? '' : String(exitCode), plain(reason ?? '')];
  return words.filter((word) => word !== '').join(' ') || '-';
}

function shortPath(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
