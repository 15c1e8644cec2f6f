import { plain } from './text.ts';

/** The address and port where a port of this machine listens, as ADDRESS:PORT. */
export function hostPortText(at: { readonly hostAddress: string; readonly hostPort: number }): string {
  const address = plain(at.hostAddress);
  return `${address.includes(':') ? `[${address}]` : address}:${at.hostPort}`;
}
