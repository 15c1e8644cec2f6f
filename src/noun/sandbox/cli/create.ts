import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import type { Output } from '../../../client/output/output.ts';
import { during } from '../../../client/output/progress.ts';
import { plain } from '../../../client/output/text.ts';
import { withTrust } from '../../../client/project-file/trust.ts';
import type { SandboxRequest } from '../api.ts';
import { warnAboutFallback } from './fallback.ts';
import { printPorts } from './published.ts';
import { type SandboxOptions, sandboxRequest, withAuthor, withStreams } from './request.ts';
import { chosenStreams } from './stream/stream-options.ts';

/** A sandbox without a command idles, so it gets no terminal. */
function createRequest({ options, args, command }: Invocation<SandboxOptions>, out: Output): SandboxRequest {
  const body = sandboxRequest(options, args[0], command);
  if (command.length === 0) return body;
  return withStreams(body, { ...chosenStreams(options, out, false), stdin: options.interactive === true });
}

export async function create(context: Context, invocation: Invocation<SandboxOptions>): Promise<void> {
  const body = await withAuthor(createRequest(invocation, context.out));
  const client = connect(context);
  const view = await withTrust(context, client, () =>
    during(context.out, 'creating the sandbox', client.call('POST /v1/sandboxes', { body })),
  );
  warnAboutFallback(context.out, body, view);
  printPorts(context.out, view);
  if (context.json) context.out.document(view);
  else context.out.print(plain(view.name));
}
