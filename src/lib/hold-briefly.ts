/** Joins what is written to a response in the same turn of the event loop: each write of its own is a call of the kernel and a chunk. */
import type { ServerResponse } from 'node:http';

export function holdBriefly(response: ServerResponse): void {
  if (response.writableCorked > 0) return;
  response.cork();
  setImmediate(() => release(response));
}

/** In Node 22 no drain follows a held write that asked for one, where the socket takes all of it at once. */
function release(response: ServerResponse): void {
  response.uncork();
  const { socket } = response;
  if (response.writableNeedDrain && socket?.writableNeedDrain === false) socket.emit('drain');
}

/** `end` alone would send the end of the chunks before those that are held. */
export function endHeld(response: ServerResponse, last = ''): void {
  response.uncork();
  response.end(last);
}
