/** Section `http` of config.yaml: the TCP port of the daemon. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { path, section } from '../../../kernel/settings/section.ts';
import { Fault } from '../../../model/fault.ts';
import type { HttpSettings } from '../installation.ts';

export const defaultHttp: HttpSettings = { port: 3000, address: '127.0.0.1', tls: null, rate: 1000 };

export const portNumber = z.int().min(0).max(65535);

const schema = z
  .strictObject({
    port: portNumber.meta({
      description: '0: any free one; `carrel status` shows it.',
      default: 3000,
      examples: [3000],
    }),
    address: z
      .string()
      .max(64)
      .meta({
        description: 'The IP address to listen on. One that other machines reach needs `tls`.',
        default: '127.0.0.1',
        examples: ['0.0.0.0'],
      }),
    tls: z
      .strictObject({
        cert: path.meta({ description: 'The certificate chain, a PEM file.', examples: ['/etc/carrel/cert.pem'] }),
        key: path.meta({ description: 'Its private key, a PEM file.', examples: ['/etc/carrel/key.pem'] }),
      })
      .describe('Serve HTTPS. Names in the certificate are accepted as names of this server.'),
    rate: z
      .int()
      .min(1)
      .max(1_000_000)
      .meta({
        description: 'Requests a second that one token may send; bursts of five times as many pass.',
        default: 1000,
        examples: [100],
      }),
  })
  .partial()
  .optional()
  .describe('The TCP port for MCP clients. Without this section none is open, unless `carrel up --port` asks for it.');

export const installationConfig = [
  section('http', {
    schema,
    read: (content, at): { http: HttpSettings | null } => {
      if (content === undefined) return { http: null };
      const http = { ...defaultHttp, ...content } as HttpSettings;
      at('http.address', () => checkAddress(http));
      return { http };
    },
    atStart: { http: 'http' },
  }),
] as const;

function checkAddress({ address, tls }: HttpSettings): void {
  if (isIP(address) === 0)
    throw new Fault('invalid', `http.address: ${address} is not an IP address`, { hint: 'Such as 127.0.0.1 or ::1.' });
  if (tls !== null || isLoopback(address)) return;
  throw new Fault('invalid', `http.address: other machines can reach ${address}, so http.tls is required`, {
    hint: 'Set http.tls: {cert: FILE, key: FILE}, or use 127.0.0.1.',
  });
}

function isLoopback(address: string): boolean {
  return address === '::1' || (isIP(address) === 4 && address.startsWith('127.'));
}
