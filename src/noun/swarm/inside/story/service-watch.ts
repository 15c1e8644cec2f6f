/**
 * Checks from inside that the agent's service can be reached: at the base URL of a credential, where the proxy reports a
 * failure, or by its name through the proxy. Any answer of the service counts.
 */
import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { firstBytes } from '../../../../lib/process/collect.ts';
import { AdapterError } from '../../../agent/inside/adapter-error.ts';
import type { AdapterSettings } from '../../../agent/model/agent.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The reason why it cannot be reached; null: it can. */
export type Probe = (signal: AbortSignal) => Promise<string | null>;

export interface ServiceWatchLimits {
  /** Time without output of the agent before its service is checked. */
  readonly quietMs: number;
  /** Pause between two tries. */
  readonly againMs: number;
  readonly answerMs: number;
}

export const serviceLimits: ServiceWatchLimits = { quietMs: 15_000, againMs: 2000, answerMs: 5000 };
/** Failures in a row before the service counts as unreachable. */
const tries = 3;
const maxBody = 4096;

/** Null: there is no service, or no route to it. */
export function probeOf({ service }: Pick<AdapterSettings, 'service'>, env: Environment): Probe | null {
  if (service === undefined) return null;
  const base = env[service.base];
  if (base?.startsWith('http://')) return (signal) => askAt(base, signal);
  const place = base && URL.canParse(base) ? endpointOf(new URL(base)) : service.place;
  const proxy = env.HTTPS_PROXY ?? env.https_proxy;
  return proxy && URL.canParse(proxy) ? (signal) => askThrough(new URL(proxy), place, signal) : null;
}

function endpointOf({ hostname, port }: URL): string {
  return `${hostname}:${port || 443}`;
}

/** Throws when the service cannot be reached after some tries. */
export async function requireService(probe: Probe, signal: AbortSignal, limits = serviceLimits): Promise<void> {
  for (let left = tries; ; left--) {
    const within = AbortSignal.any([signal, AbortSignal.timeout(limits.answerMs)]);
    const why = await probe(within).catch((error: unknown) => (error as Error).message);
    if (why === null || signal.aborted) return;
    if (left === 1) throw AdapterError.of('SERVICE_UNREACHABLE', why);
    await pause(limits.againMs, undefined, { signal }).catch(() => {});
  }
}

/** Checks the service when the agent has been silent for a while: an agent would wait for a lost service for ever. */
export class ServiceWatch {
  readonly #probe: Probe | null;
  readonly #limits: ServiceWatchLimits;
  readonly #onLost: (error: unknown) => void;
  readonly #end = new AbortController();
  readonly #timer: NodeJS.Timeout | null;

  constructor(probe: Probe | null, onLost: (error: unknown) => void, limits = serviceLimits) {
    this.#probe = probe;
    this.#limits = limits;
    this.#onLost = onLost;
    this.#timer = probe === null ? null : setTimeout(() => void this.#ask(), limits.quietMs);
  }

  restart(): void {
    if (!this.#end.signal.aborted) this.#timer?.refresh();
  }

  dispose(): void {
    this.#end.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #ask(): Promise<void> {
    try {
      await requireService(this.#probe!, this.#end.signal, this.#limits);
      this.restart();
    } catch (error) {
      this.#onLost(error);
    }
  }
}

function askAt(base: string, signal: AbortSignal): Promise<string | null> {
  return new Promise((resolve) => {
    const request = httpRequest(base, { signal, agent: false }, (response) => {
      const body = firstBytes(response, maxBody).then(String, () => '');
      void body.then((text) => resolve(refusalIn(text)));
    });
    request.on('error', (error) => resolve(`no answer at ${base}: ${error.message}`));
    request.end();
  });
}

/** An error of the proxy looks like an error of a service, but has its own `type`. */
function refusalIn(body: string): string | null {
  try {
    const { error } = JSON.parse(body) as { error?: { type?: unknown; message?: unknown } };
    if (error?.type !== 'carrel_unavailable') return null;
    return String(error.message).replace(/^carrel: /, '');
  } catch {
    return null;
  }
}

function askThrough(proxy: URL, place: string, signal: AbortSignal): Promise<string | null> {
  const [, host] = /^(.*):\d+$/.exec(place) ?? [];
  return new Promise((resolve) => {
    const refuse = (error: Error) => resolve(`no connection to ${place}: ${error.message}`);
    const to = {
      host: proxy.hostname,
      port: proxy.port,
      method: 'CONNECT',
      path: place,
      agent: false,
      signal,
    } as const;
    const request = httpRequest(to);
    request.on('error', refuse);
    request.on('connect', (response, socket: Socket) => {
      if (response.statusCode !== 200) {
        socket.destroy();
        return resolve(`no connection to ${place}: the proxy answers ${response.statusCode}`);
      }
      // The agent verifies the certificate itself.
      const tls = connectTls({ socket, servername: host!, rejectUnauthorized: false }, () => {
        tls.destroy();
        resolve(null);
      });
      tls.on('error', refuse);
      tls.on('close', () => refuse(new Error('it was closed')));
    });
    request.end();
  });
}
