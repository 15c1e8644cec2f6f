import type { SandboxRequest } from '../../api/sandbox.ts';
import type { Context, Invocation } from '../cli.ts';
import { connect } from '../connect/connect.ts';
import { withTrust } from '../fleet/trust.ts';
import type { Output } from '../output/output.ts';
import { during } from '../output/progress.ts';
import { plain } from '../output/text.ts';
import { chosenStreams } from '../stream/stream-options.ts';
import { warnAboutFallback } from './fallback.ts';
import { tellPorts } from './published.ts';
import { type SandboxOptions, sandboxRequest, withAuthor, withStreams } from './request.ts';

/** A sandbox without a command idles, so it gets no terminal. */
function createRequest({ options, args, command }: Invocation<SandboxOptions>, out: Output): SandboxRequest {
  const body = sandboxRequest(options, args[0], command);
  if (command.length === 0) return body;
  return withStreams(body, { ...chosenStreams(options, out, false), stdin: options.interactive === true });
}

export default async function create(context: Context, invocation: Invocation<SandboxOptions>): Promise<void> {
  const body = await withAuthor(createRequest(invocation, context.out));
  const client = connect(context);
  const view = await withTrust(context, client, () =>
    during(context.out, 'creating the sandbox', client.call('POST /v1/sandboxes', { body })),
  );
  warnAboutFallback(context.out, body, view);
  tellPorts(context.out, view);
  if (context.json) context.out.document(view);
  else context.out.print(plain(view.name));
}
