import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import type { Output } from '../../../client/output/output.ts';
import { plain } from '../../../client/output/text.ts';
import { deliver } from '../../../client/stream/receive.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import type { SwarmContainerView } from '../api.ts';
import { projectOf } from './conclude.ts';
import { type LogEntry, SwarmLog } from './swarm-log.ts';

interface Options {
  readonly project?: string;
  readonly follow?: boolean;
}

export async function swarmLogs(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const client = connect(context);
  const [name] = args as [string];
  const { containers } = await client.call('GET /v1/swarm/show', { query: { project: projectOf(options) } });
  requireLogs(name, containers);
  const log = new SwarmLog();
  const show = (entries: readonly LogEntry[]) => {
    for (const entry of entries) print(context.out, entry);
  };
  const frames = client.frames('GET /v1/sandboxes/{name}/logs', {
    path: { name },
    query: options.follow ? { follow: true } : {},
  });
  await deliver(frames, {
    stdout: (chunk) => show(log.stdout(chunk)),
    stderr: (chunk) => show(log.stderr(chunk)),
  });
  show(log.end());
}

function requireLogs(name: string, containers: readonly SwarmContainerView[]): void {
  const found = containers.find(({ containerName }) => containerName === name);
  if (found === undefined) {
    throw new Fault('not_found', `the swarm has no container ${printable(name)}`, {
      hint: 'See: carrel swarm ls',
    });
  }
  if (found.agent === null) {
    throw new Fault('unsupported', `a script manages ${name}, so Carrel has no log of it`);
  }
  if (found.startedAt === null && found.attempt === 1) {
    throw new Fault('not_ready', `${name} is ${found.status} and has no output yet`, {
      hint: 'See: carrel swarm status',
    });
  }
}

function print(out: Output, entry: LogEntry): void {
  if (out.json) return void out.document(entry, 0);
  const { story, kind, text } = entry;
  const line = plain(text);
  const shown = kind === 'said' ? line : out.paint(kind === 'error' ? 'red' : 'bold', line);
  out.print(`${story === null ? '' : `${out.paint('dim', story)}  `}${shown}`);
}
