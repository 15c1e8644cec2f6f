/** Pages of this machine, such as a front end under development at another port, may call the API. The guard refuses all other origins. */
import type { IncomingMessage, ServerResponse } from 'node:http';

const preflight = {
  'Access-Control-Allow-Methods': 'GET, POST, DELETE',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Last-Event-ID, X-Approvals',
  'Access-Control-Max-Age': '600',
};

/** Call it after the origin was checked. True: the request was a preflight, which has no token, and is answered. */
export function allowOrigin({ method, headers }: IncomingMessage, response: ServerResponse): boolean {
  if (headers.origin === undefined) return false;
  response.setHeader('Access-Control-Allow-Origin', headers.origin);
  response.setHeader('Vary', 'Origin');
  if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false;
  response.writeHead(204, preflight).end();
  return true;
}
