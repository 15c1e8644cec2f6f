import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { age } from '../../../client/output/age.ts';
import { hostPortText } from '../../../client/output/host-port.ts';
import type { Output } from '../../../client/output/output.ts';
import { table } from '../../../client/output/table.ts';
import { commandLine, plain } from '../../../client/output/text.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { formatSize } from '../../../model/size.ts';
import type { SandboxView } from '../api.ts';
import { paintState, warnUnseen } from './state.ts';

export async function show(context: Context, { args }: Invocation): Promise<void> {
  const answer = connect(context).call('GET /v1/sandboxes/{name}', { path: { name: checkSandboxName(args[0]!) } });
  const view = await printAnswer(context, answer, (sandbox) => description(sandbox, context.out));
  warnUnseen(context.out, [view]);
}

export function description(view: SandboxView, out: Output, now?: number): string[] {
  const { project, mode, command, runtime, startedAt, finishedAt } = view;
  return table([
    ['name', plain(view.name)],
    ['id', plain(view.id)],
    ['state', [paintState(out, view.state), ...ending(view)].join(', ')],
    ['command', command.length === 0 ? '-' : commandLine(command)],
    ['project', project === null ? '-' : `${plain(project)} (${plain(mode)})`],
    ...(view.workspace === null ? [] : [['workspace', `${view.workspace.kind}, base ${view.workspace.base}`]]),
    ['user', plain(view.user)],
    ['engine', `${plain(view.engine)}${runtime === null ? '' : `, ${plain(runtime)}`}`],
    ...(view.image ? [['image', imageText(view.image)]] : []),
    ['created', moment(view.createdAt, now)],
    ...(startedAt === null ? [] : [['started', moment(startedAt, now)]]),
    ...(finishedAt === null ? [] : [['finished', moment(finishedAt, now)]]),
    ['limits', limits(view)],
    ...section('credentials', view.credentials.map(plain)),
    ...section(
      'services',
      view.services.map(({ name, port }) => `${plain(name)} at 127.0.0.1:${port}`),
    ),
    ...section('network', networkLines(view)),
    ...section('ports', view.network.ports.map(portLine)),
    ...section('mounts', view.mounts.map(mount)),
    ...section(
      'labels',
      Object.entries(view.labels).map(([key, value]) => `${plain(key)}=${plain(value)}`),
    ),
  ]);
}

function imageText({ name, id }: NonNullable<SandboxView['image']>): string {
  return id === null ? plain(name) : `${plain(name)}, ${plain(id)}`;
}

function ending({ exitCode, signal, reason }: SandboxView): string[] {
  return [
    ...(exitCode === null ? [] : [`exit code ${exitCode}`]),
    ...(signal === null ? [] : [plain(signal)]),
    ...(reason === null ? [] : [plain(reason)]),
  ];
}

function limits({ limits: { cpus, memoryBytes, swapBytes, pids, diskBytes, advisory } }: SandboxView): string {
  const all = {
    cpus: `${cpus} cpus`,
    memoryBytes: `${formatSize(memoryBytes)} memory`,
    swapBytes: `${formatSize(swapBytes)} with swap`,
    pids: `${pids} processes`,
    diskBytes: `${formatSize(diskBytes)} disk`,
  };
  return Object.entries(all)
    .map(([key, text]) => (advisory.includes(key) ? `${text} (not enforced)` : text))
    .join(', ');
}

function networkLines({ network: { allow, trouble } }: SandboxView): string[] {
  const rules = allow.length === 0 ? ['none'] : allow.map(plain);
  return trouble === null ? rules : [`${plain(trouble)}: the port is not forwarded until it is free`, ...rules];
}

function portLine(forward: SandboxView['network']['ports'][number]): string {
  return `${hostPortText(forward)} → ${forward.port}`;
}

function mount({ target, source, readonly }: SandboxView['mounts'][number]): string {
  return [plain(target), source === null ? '' : ` from ${plain(source)}`, readonly ? ' (read-only)' : ''].join('');
}

function section(title: string, lines: readonly string[]): string[][] {
  return lines.map((line, index) => [index === 0 ? title : '', line]);
}

function moment(at: string, now?: number): string {
  return `${plain(at)} (${age(at, now)} ago)`;
}
