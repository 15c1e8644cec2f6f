/** Joins what is written to a response in the same turn of the event loop: each write of its own is a call of the kernel and a chunk. */
import type { ServerResponse } from 'node:http';

export function holdBriefly(response: ServerResponse): void {
  if (response.writableCorked > 0) return;
  response.cork();
  setImmediate(() => response.uncork());
}

/** `end` alone would send the end of the chunks before those that are held. */
export function endHeld(response: ServerResponse, last = ''): void {
  response.uncork();
  response.end(last);
}
