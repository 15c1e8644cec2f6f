import { plain } from './text.ts';

/** Where a port of this machine listens, as it is written in an address. */
export function hostPortText(at: { readonly hostAddress: string; readonly hostPort: number }): string {
  const address = plain(at.hostAddress);
  return `${address.includes(':') ? `[${address}]` : address}:${at.hostPort}`;
}
