/** Calls that end with an error when their token is not valid any more. */
import type { ToolCall } from '../hub.ts';
import type { McpParts } from './mcp.ts';

/** `revoked` is aborted with the Fault that the calls are answered with. */
export function revocable(parts: McpParts, revoked: AbortSignal): McpParts {
  return {
    ...parts,
    call: (tool, input, how) => untilRevoked(revoked, how, (call) => parts.call(tool, input, call)),
  };
}

/** AbortSignal.any is not used: a session outlives its calls, and a call must not leave a listener on its signal. */
async function untilRevoked<T>(revoked: AbortSignal, how: ToolCall, run: (call: ToolCall) => Promise<T>): Promise<T> {
  const abort = new AbortController();
  const cancel = () => abort.abort(how.signal.reason);
  let refuse = () => {};
  const refused = new Promise<never>((_, reject) => {
    refuse = () => {
      abort.abort(revoked.reason);
      reject(revoked.reason);
    };
  });
  if (how.signal.aborted) cancel();
  how.signal.addEventListener('abort', cancel);
  revoked.addEventListener('abort', refuse);
  try {
    return await Promise.race([run({ ...how, signal: abort.signal }), refused]);
  } finally {
    how.signal.removeEventListener('abort', cancel);
    revoked.removeEventListener('abort', refuse);
  }
}
