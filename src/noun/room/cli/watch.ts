import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { table } from '../../../client/output/table.ts';
import { plain } from '../../../client/output/text.ts';
import { Fault } from '../../../model/fault.ts';
import type { WatchRequest, WatchView } from '../api.ts';
import { checkParticipantName, checkRoomName } from '../model/room.ts';

interface Options {
  readonly run?: boolean;
  readonly webhook?: string;
  readonly secret?: string;
  readonly wake?: boolean;
  readonly agent?: string;
  readonly all?: boolean;
  readonly resume?: boolean;
  readonly rm?: boolean;
}

export async function roomWatch(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const [room = '', who, ...command] = args;
  const path = { name: checkRoomName(room) };
  if (who === undefined) return list(context, path, options);
  const client = connect(context);
  const body = { who: checkParticipantName(who) };
  requireOne(options);
  if (options.rm) {
    const removed = await client.call('POST /v1/rooms/{name}/watchers/remove', { path, body });
    return report(context, removed, `${who} does not watch ${room} any more`);
  }
  if (options.resume) {
    const resumed = await client.call('POST /v1/rooms/{name}/watchers/resume', { path, body });
    return report(context, resumed, `${who} watches ${room} again`);
  }
  const request = requestOf(body.who, command, options);
  const watch = await client.call('POST /v1/rooms/{name}/watchers', { path, body: request });
  report(context, watch, `${who} handles ${watch.all ? 'all messages' : `messages that mention @${who}`} in ${room}`);
}

async function list(context: Context, path: { readonly name: string }, options: Options): Promise<void> {
  if (Object.values(options).some((value) => value !== undefined && value !== false)) throw needsWho(path.name);
  const answer = connect(context).call('GET /v1/rooms/{name}/watchers', { path });
  const watchers = await printAnswer(context, answer, watchListing, {
    empty: `no watchers; add one with: carrel room watch ${path.name} WHO --wake`,
  });
  for (const { who, paused } of watchers) {
    if (paused !== null) context.out.warn(`${plain(who)} is paused: ${plain(paused)}`);
  }
}

export function watchListing(watchers: readonly WatchView[]): string[] {
  const rows = watchers.map(({ who, kind, command, url, all, paused, handling, handled, failed }) => [
    plain(who),
    all ? 'all' : 'mentions',
    paused === null ? (handling === null ? 'waiting' : 'working') : 'paused',
    String(handled),
    String(failed),
    `${kind} ${plain(url ?? (command ?? []).join(' '))}`,
  ]);
  return table([['NAME', 'MESSAGES', 'STATE', 'HANDLED', 'FAILED', 'ACTION'], ...rows]);
}

function report(context: Context, watch: WatchView, text: string): void {
  if (context.json) context.out.document(watch);
  else context.out.note(text);
}

function requestOf(who: string, command: readonly string[], options: Options): WatchRequest {
  const common = { who, ...(options.all ? { all: true } : {}) };
  const { webhook, secret, agent } = options;
  if (options.run) {
    if (command.length > 0) return { ...common, run: [...command] };
    throw new Fault('invalid', '--run needs a command', {
      hint: 'Write it after --, as in: --run -- notify-send hello',
    });
  }
  if (webhook !== undefined) return { ...common, webhook, ...(secret === undefined ? {} : { secret }) };
  const wake = command.length > 0 ? { command: [...command] } : agent === undefined ? {} : { agent };
  return { ...common, wake };
}

function requireOne({ run, webhook, wake, resume, rm }: Options): void {
  const chosen = [run, webhook, wake, resume, rm].filter((value) => value !== undefined && value !== false);
  if (chosen.length === 1) return;
  throw new Fault('invalid', 'name one of --run, --webhook, --wake, --resume and --rm', {
    hint: 'carrel room watch --help explains them.',
  });
}

function needsWho(room: string): Fault {
  return new Fault('invalid', 'WHO is missing: the participant whose mentions are handled', {
    hint: `carrel room watch ${room} WHO --wake`,
  });
}
