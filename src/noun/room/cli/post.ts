import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { plain } from '../../../client/output/text.ts';
import { stdinText } from '../../../client/stdin-text.ts';
import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { formatSize } from '../../../model/size.ts';
import type { MessageRequest } from '../api.ts';
import { checkRoomName } from '../model/room.ts';
import { checkMessageId } from './message-id.ts';

interface Options {
  readonly reply?: string;
  readonly attach?: readonly string[];
}

/** More than any message may have: the daemon has the exact limit. */
const enoughBytes = 16 * 1024 ** 2;
/** So many bytes still fit into one request when they are encoded. */
const mostAttachedBytes = 8 * 1024 ** 2;

export async function roomPost(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const [name, ...words] = args;
  const path = { name: checkRoomName(name!) };
  const { reply } = options;
  const body: MessageRequest = {
    ...(reply === undefined ? {} : { replyTo: checkMessageId(reply, '--reply', path.name) }),
    body: await textOf(words, path.name),
    ...(options.attach === undefined ? {} : { attachments: attachmentsOf(options.attach) }),
  };
  const answer = connect(context).call('POST /v1/rooms/{name}/messages', { path, body });
  await printAnswer(context, answer, (message) => plain(message.id));
}

async function textOf(words: readonly string[], room: string): Promise<string> {
  if (words.length === 0)
    throw new Fault('invalid', 'the text of the message is missing', {
      hint: `carrel room post ${room} TEXT, or - to read it from stdin: carrel room post ${room} -`,
    });
  if (words.length > 1 || words[0] !== '-') return words.join(' ');
  return stdinText(enoughBytes, 'Attach it as a file instead: --attach FILE');
}

function attachmentsOf(files: readonly string[]): NonNullable<MessageRequest['attachments']> {
  let bytes = 0;
  return files.map((file) => {
    const content = contentOf(file, mostAttachedBytes - bytes);
    bytes += content.length;
    return { name: basename(file), contentBase64: content.toString('base64') };
  });
}

function contentOf(file: string, mostBytes: number): Buffer {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) throw new Fault('invalid', `--attach: ${printable(file)} does not exist`);
  if (!stat.isFile())
    throw new Fault('invalid', `--attach: ${printable(file)} is not a file`, {
      hint: 'Pack a folder first, for example with tar.',
    });
  if (stat.size <= mostBytes) return readFileSync(file);
  throw new Fault('exhausted', `--attach: all files together have more than ${formatSize(mostAttachedBytes)}`);
}
