import { homedir } from 'node:os';
import type { SandboxView } from '../../api/routes.ts';
import type { Context } from '../context.ts';
import { connect } from '../daemon.ts';
import { age } from '../output/age.ts';
import type { Output } from '../output/output.ts';
import { paintState } from '../output/state.ts';
import { table } from '../output/table.ts';
import { commandLine, cut, plain } from '../output/text.ts';

const commandColumns = 40;

export default async function ls(context: Context): Promise<void> {
  const sandboxes = await connect(context).call('listSandboxes');
  if (context.json) return context.out.document(sandboxes);
  if (sandboxes.length === 0) return context.out.note('no sandboxes; make one with: carrel run -- uname -a');
  context.out.print(...listing(sandboxes, context.out));
}

export function listing(sandboxes: readonly SandboxView[], out: Output, now?: number): string[] {
  const rows = sandboxes.map((sandbox) => [
    plain(sandbox.name),
    paintState(out, sandbox.state),
    sandbox.project === null ? '-' : plain(shortPath(sandbox.project)),
    sandbox.command.length === 0 ? '-' : cut(commandLine(sandbox.command), commandColumns),
    age(sandbox.createdAt, now),
    exitCell(sandbox),
  ]);
  return table([['NAME', 'STATE', 'PROJECT', 'COMMAND', 'AGE', 'EXIT'], ...rows]);
}

function exitCell({ exitCode, reason }: SandboxView): string {
  const words = [exitCode === null ? '' : String(exitCode), plain(reason ?? '')];
  return words.filter((word) => word !== '').join(' ') || '-';
}

function shortPath(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
