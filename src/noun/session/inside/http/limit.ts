/** The limits of the agent API. */

import type { RateLimit } from '../../../../lib/flow/rate.ts';
import { maxDescriptors } from '../../../../lib/process/process.ts';
import type { ConnectionLimits } from '../../../../lib/wire/connections.ts';
import { sessionLimits } from '../../model/session.ts';

export interface ApiLimits {
  readonly connections: ConnectionLimits;
  /** `rate` is for one token, `refusedRate` for all requests without a valid one. */
  readonly rate: RateLimit;
  readonly refusedRate: RateLimit;
  /** Escapes can make JSON longer than the prompt in it. */
  readonly bodyBytes: number;
  /** A `useChat` client sends the whole conversation each time. */
  readonly chatBytes: number;
  readonly restoreBytes: number;
  /** How long a client may take to send its headers and a whole request, and how often that is checked. */
  readonly headersMs: number;
  readonly requestMs: number;
  readonly checkMs: number;
  /** Time after which an idle connection is closed. Long, so that the daemon's connection stays between prompts. */
  readonly idleMs: number;
  readonly heartbeatMs: number;
  /** A client of a stream that accepts nothing for this time is disconnected. */
  readonly stallMs: number;
}

function connectionLimits(descriptors = maxDescriptors()): ConnectionLimits {
  const total = Math.min(4096, Math.floor(descriptors / 2));
  return { perAccount: total, total, unauthenticatedMs: 10_000, firstReserved: Math.floor(descriptors * 0.9) };
}

export const apiLimits = (): ApiLimits => ({
  connections: connectionLimits(),
  rate: { perSecond: 500, burst: 5000 },
  refusedRate: { perSecond: 20, burst: 100 },
  bodyBytes: 4 * sessionLimits.promptBytes,
  chatBytes: 32 * 1024 ** 2,
  restoreBytes: sessionLimits.logBytes + sessionLimits.eventBytes,
  headersMs: 10_000,
  requestMs: 60_000,
  checkMs: 2000,
  idleMs: 600_000,
  heartbeatMs: 15_000,
  stallMs: 30_000,
});
