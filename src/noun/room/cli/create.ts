import { resolve } from 'node:path';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount, parseNumber } from '../../../client/option.ts';
import { plain } from '../../../client/output/text.ts';
import { checkRoomName } from '../model/room.ts';

interface Options {
  readonly at?: string;
  readonly keepDays?: string;
  readonly keepMessages?: string;
}

export async function roomCreate(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const { at, keepDays, keepMessages } = options;
  const body = {
    name: checkRoomName(args[0]!),
    ...(at === undefined ? {} : { at: resolve(at) }),
    ...(keepDays === undefined ? {} : { keepDays: parseNumber(keepDays, '--keep-days') }),
    ...(keepMessages === undefined ? {} : { keepMessages: parseCount(keepMessages, '--keep-messages', 1) }),
  };
  const view = await connect(context).call('POST /v1/rooms', { body });
  if (context.json) return context.out.document(view);
  context.out.print(plain(view.name));
  context.out.note(`its files are in ${view.folder}`);
}
