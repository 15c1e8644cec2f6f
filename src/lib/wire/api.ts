/**
 * The HTTP contract between the daemon and its clients.
 *
 * A route is named by its method and path: `GET /v1/volumes`. That text is what the daemon declares, what a client calls
 * and what the OpenAPI document shows. Requests and answers are JSON. An unknown field is refused with its path. A refusal is
 * `{code, message, hint?, data?}` with the HTTP status of its code. Long output comes as frames (`stream.ts`) or as
 * server-sent events; `attach` and `exec` switch the connection to frames in both directions.
 *
 * `NOUN.ts` has the shapes of requests and answers about a noun and their types; the daemon validates by them. Clients import
 * only the types: this file, `client/client.ts` and `stream.ts` load no schemas, so that a command starts quickly.
 */

export type HttpMethod = 'GET' | 'POST' | 'DELETE';
/** Method and path; `{name}` in the path stands for the name of a thing, `{id}` and others for what belongs to it. */
export type RouteText = `${HttpMethod} /${string}`;
/** The names in braces in a path. */
export type PathNames<K extends string> = K extends `${string}{${infer N}}${infer Rest}` ? N | PathNames<Rest> : never;

/** Names the user that the owner of an installation acts as. */
export const actAsHeader = 'carrel-user';
/** In a request over a shared socket: the build of the command, as JSON and URI-encoded. */
export const clientHeader = 'carrel-client';
/** In an answer: a notice for the user of the client, URI-encoded. */
export const noticeHeader = 'carrel-notice';

export function methodAndPath(route: RouteText): { readonly method: HttpMethod; readonly path: string } {
  const [method, path] = route.split(' ');
  return { method: method as HttpMethod, path: path! };
}
