import { isUtf8 } from 'node:buffer';
import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { during } from '../../../client/output/progress.ts';
import { reviewFields } from '../../../client/paths.ts';
import { checkSandboxName } from '../../../model/name.ts';
import { collect, review } from './review.ts';

interface Options {
  readonly ignored?: boolean;
  readonly message?: string;
}

export async function patch(context: Context, invocation: Invocation<Options>): Promise<number> {
  const { message } = invocation.options;
  const name = checkSandboxName(invocation.args[0]!);
  const client = connect(context);
  const paths = await reviewFields(client, name, invocation.args.slice(1), invocation.options);
  const body = { ...paths, ...(message === undefined ? {} : { message }) };
  const frames = (signal?: AbortSignal) =>
    client.frames('POST /v1/sandboxes/{name}/patch', { path: { name }, body, ...(signal ? { signal } : {}) });
  const doing = `making a patch of ${name}`;
  if (context.json) {
    context.out.document(inJson(await during(context.out, doing, collect(frames))));
    return 0;
  }
  const { empty, exitCode } = await review(frames, context.out, doing);
  if (empty) context.out.say(`${name} has no changes`);
  return exitCode;
}

/** A patch may have bytes that are not UTF-8, which JSON cannot hold; these go in base64. */
export function inJson(bytes: Buffer): { patch: string } | { patchBase64: string } {
  return isUtf8(bytes) ? { patch: bytes.toString('utf8') } : { patchBase64: bytes.toString('base64') };
}
