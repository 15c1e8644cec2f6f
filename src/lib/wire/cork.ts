/**
 * Joins the writes to a response in one turn of the event loop: each separate write costs a system call and a chunk.
 */
import type { ServerResponse } from 'node:http';

export function corkForTurn(response: ServerResponse): void {
  if (response.writableCorked > 0) return;
  response.cork();
  setImmediate(() => release(response));
}

/**
 * In Node 22 and 24 no `drain` follows a corked write that needs one, if the socket then takes all of it, or all but what
 * its own buffer holds.
 */
function release(response: ServerResponse): void {
  response.uncork();
  const { socket } = response;
  if (response.writableNeedDrain && socket?.writableNeedDrain === false) response.emit('drain');
}

/** `end` alone would send the end of the chunks before the corked writes. */
export function endCorked(response: ServerResponse, last = ''): void {
  response.uncork();
  response.end(last);
}
