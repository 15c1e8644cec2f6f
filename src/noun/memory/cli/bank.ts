import { printAnswer } from '../../../client/answer.ts';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { parseCount } from '../../../client/option.ts';
import { plain } from '../../../client/output/text.ts';
import { Fault } from '../../../model/fault.ts';
import { formatSize } from '../../../model/size.ts';
import type { BankVersionView } from '../api/bank.ts';
import { checkBankPath, writerText } from '../model/bank.ts';

interface Options {
  readonly diff?: boolean;
  readonly limit?: string;
}

export async function memoryBank(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const [verb, ...rest] = args;
  if (verb === 'log' && rest.length <= 1) return log(context, rest[0], options);
  if (verb === 'restore' && rest.length === 2) return restore(context, rest[0]!, rest[1]!);
  throw new Fault('invalid', 'carrel memory bank has the commands log [PATH] and restore PATH VERSION', {
    hint: 'carrel memory bank log shows files and versions.',
  });
}

async function log(context: Context, path: string | undefined, { diff, limit }: Options): Promise<void> {
  const query = {
    ...(path === undefined ? {} : { path: checkBankPath(path) }),
    ...(limit === undefined ? {} : { limit: parseCount(limit, '--limit', 1) }),
    ...(diff ? { diffs: 'true' as const } : {}),
  };
  const answer = connect(context).call('GET /v1/memory/bank/log', { query });
  await printAnswer(context, answer, (versions) => versions.flatMap(linesOf), {
    empty: 'no versions; carrel run --memory-bank gives a sandbox the memory bank',
  });
}

async function restore(context: Context, path: string, version: string): Promise<void> {
  const body = { path: checkBankPath(path), version: parseCount(version, 'VERSION', 1) };
  await printAnswer(context, connect(context).call('POST /v1/memory/bank/restore', { body }), linesOf);
}

function linesOf({ path, version, at, act, by, bytes, isKept, diff }: BankVersionView): string[] {
  const size = bytes === null ? 'removed' : `${formatSize(bytes)}${isKept ? '' : ', content not kept'}`;
  const how = act === 'plain' ? 'plain write of' : act === 'restore' ? 'restored by' : 'written by';
  const when = `${at.slice(0, 19).replace('T', ' ')}Z`;
  const head = plain(`${path}  ${version}  ${when}  ${how} ${writerText(by)}  (${size})`);
  return diff === undefined
    ? [head]
    : [
        head,
        ...diff
          .trimEnd()
          .split('\n')
          .map((line) => `  ${plain(line)}`),
      ];
}
