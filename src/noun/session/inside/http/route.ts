/** Finds the handler of a request. A path is split, then decoded and compared part by part; `..` is not resolved. */
import { Fault } from '../../../../model/fault.ts';
import type { Handler } from './call.ts';
import { HttpRefusal } from './reply.ts';

export type RouteTable = Readonly<Record<string, Handler>>;

interface Route {
  readonly method: string;
  readonly parts: readonly string[];
  readonly handle: Handler;
}

export interface FoundRoute {
  readonly handle: Handler;
  readonly params: Readonly<Record<string, string>>;
}

const methodNotAllowed = 405;

export class Routes {
  readonly #routes: readonly Route[];

  /** Keys such as `GET /sessions/{id}`. */
  constructor(table: RouteTable) {
    this.#routes = Object.entries(table).map(([key, handle]) => {
      const [method, path] = key.split(' ') as [string, string];
      return { method, parts: path.split('/'), handle };
    });
  }

  find(method: string, path: string): FoundRoute {
    const parts = path.split('/').map(decoded);
    const there = this.#routes.filter((route) => fits(route.parts, parts));
    if (there.length === 0) throw new Fault('not_found', `there is nothing at ${path.slice(0, 200)}`);
    const route = there.find((one) => one.method === method);
    if (route === undefined) throw wrongMethod(method, there);
    return { handle: route.handle, params: paramsOf(route.parts, parts) };
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new Fault('invalid', 'the path is not valid');
  }
}

function isParameter(part: string): boolean {
  return part.startsWith('{');
}

function fits(route: readonly string[], parts: readonly string[]): boolean {
  return (
    route.length === parts.length &&
    route.every((part, at) => (isParameter(part) ? parts[at] !== '' : part === parts[at]))
  );
}

function paramsOf(route: readonly string[], parts: readonly string[]): Record<string, string> {
  const named = route.map((part, at) => [part.slice(1, -1), parts[at]!, part] as const);
  return Object.fromEntries(named.filter(([, , part]) => isParameter(part)).map(([name, value]) => [name, value]));
}

function wrongMethod(method: string, there: readonly Route[]): HttpRefusal {
  const allowed = there.map((route) => route.method).join(', ');
  return new HttpRefusal(new Fault('invalid', `this path takes ${allowed}, not ${method}`), methodNotAllowed, {
    Allow: allowed,
  });
}
