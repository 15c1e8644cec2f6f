/**
 * One sandbox in the proxy: its rules, its open connections and attempts, and its limits. It lives from the first attach
 * order until the sandbox is detached; changed rules end the attempts that they no longer allow.
 */
import type { Socket } from 'node:net';
import { isAlive } from '../../../../lib/process/process.ts';
import type { Endpoint } from '../../../../model/host.ts';
import { type LookUp, RefusedAttempt, resolveAllowed } from '../../lookup.ts';
import { NetworkPolicy } from '../../model/network.ts';
import type { Attachment } from '../../network.ts';
import { type ConnectionVia, RecordFile, type RecordLine } from '../../record.ts';
import { Meter } from '../limit/meter.ts';
import { Slots, TokenBucket } from '../limit/rate-limit.ts';
import { type Inspection, type Passing, relay } from '../relay/relay.ts';
import type { AcceptLimits } from '../socket/listener.ts';
import { Attempt } from './attempt.ts';
import { dialOne } from './dial.ts';
import { UsageFile } from './usage.ts';

/** The rate limit of new connections and requests of one sandbox. */
const attemptsPerSecond = 400;
const attemptBurst = 1500;
/** The number of lookups of one sandbox at a time. */
const lookUpsAtOnce = 4;

/** The rules for a connection: those of the sandbox, or of a credential that it has. */
export type Rules = (attached: Attached) => NetworkPolicy;

const notAllowed = 'not allowed any more';

const ownRules: Rules = ({ policy }) => policy;

export class Attached {
  readonly #lookUp: LookUp;
  readonly #slots = new Slots(lookUpsAtOnce);
  readonly #rate = new TokenBucket(attemptsPerSecond, attemptBurst);
  readonly #sockets = new Set<Socket>();
  readonly #attempts = new Map<Attempt, Rules>();
  readonly #record: RecordFile;
  readonly #usage: UsageFile;
  readonly #serial: () => string;
  readonly meter: Meter;
  #attachment: Attachment;
  #policy: NetworkPolicy;
  #isGone = false;
  /** Called when a connection closed, so that others can be accepted. */
  onRoom = () => {};

  constructor(attachment: Attachment, lookUp: LookUp, serial: () => string) {
    this.#attachment = attachment;
    this.#policy = new NetworkPolicy(attachment.allow);
    this.#lookUp = lookUp;
    this.#serial = serial;
    this.#record = new RecordFile(attachment.folder);
    this.#usage = new UsageFile(attachment.folder);
    this.meter = new Meter(attachment.limits, this.#usage.read(), () => this.#spent());
  }

  get attachment(): Attachment {
    return this.#attachment;
  }

  get policy(): NetworkPolicy {
    return this.#policy;
  }

  /** Changes rules and limits, and closes connections that are not allowed any more. */
  change(attachment: Attachment): void {
    this.#attachment = attachment;
    this.#policy = new NetworkPolicy(attachment.allow);
    this.meter.change(attachment.limits);
    for (const [attempt, rules] of this.#attempts) {
      if (attempt.endpoint !== null && !rules(this).decide(attempt.endpoint).allowed) this.#cut(attempt, notAllowed);
    }
    if (this.meter.isSpent) this.#spent();
  }

  readonly gate: AcceptLimits = {
    rate: this.#rate,
    room: () => this.#attachment.limits.connections - this.#sockets.size,
  };

  /** Counts a connection from inside for as long as it is open. */
  admit(socket: Socket): void {
    this.#sockets.add(socket);
    socket.setTimeout(this.#attachment.limits.idleMs, () => socket.destroy());
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.onRoom();
    });
    if (this.#isGone) socket.destroy();
  }

  attempt(via: ConnectionVia, rules: Rules = ownRules): Attempt {
    const attempt = new Attempt(
      this.#serial(),
      via,
      (line) => this.#write(line),
      (ended) => void this.#attempts.delete(ended),
    );
    this.#attempts.set(attempt, rules);
    return attempt;
  }

  /** Waits until the rate limit allows a request on an open connection. */
  async turn(): Promise<void> {
    const waitMs = this.#rate.takeMs();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }

  /** Checks, connects and records an attempt. Throws `RefusedAttempt`. */
  async dial(attempt: Attempt, endpoint: Endpoint, rules: Rules = ownRules): Promise<Socket> {
    const stop = new AbortController();
    attempt.endpoint = endpoint;
    attempt.cut = () => stop.abort();
    this.#attempts.set(attempt, rules);
    if (this.meter.isSpent)
      throw new RefusedAttempt('limit', 'the sandbox has reached its limit of bytes sent and received');
    const { connectMs } = this.#attachment.limits;
    const { rule, addresses } = await resolveAllowed(rules(this), endpoint, (name) => this.#look(name, connectMs));
    const socket = await dialOne(endpoint, addresses, connectMs, stop.signal).catch((error: unknown) => {
      attempt.allow(endpoint, rule, addresses[0]!.text);
      throw error;
    });
    try {
      // The rules may have changed since they were checked.
      if (this.#isGone || !rules(this).decide(endpoint).allowed)
        throw new RefusedAttempt('not_allowed', 'it is not allowed any more');
      attempt.allow(endpoint, rule, socket.remoteAddress ?? addresses[0]!.text);
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  /** Relays until both sides have ended; `attempt` ends with it. */
  connect(attempt: Attempt, client: Socket, upstream: Socket, look: Inspection | null = null): void {
    attempt.holds(client, upstream);
    upstream.once('close', () => attempt.end());
    relay(client, upstream, this.passing(attempt), look);
  }

  passing(attempt: Attempt): Passing {
    const onBytes: Passing['onBytes'] = (bytes, way) => {
      attempt.count(bytes, way);
      this.#usage.note(this.meter.totalBytes);
    };
    return { meter: this.meter, onBytes };
  }

  /** Closes everything. If the sandbox is still alive, it was detached because its rules allow nothing. */
  end(): void {
    this.#isGone = true;
    const reason = isAlive(this.#attachment.init) ? notAllowed : 'the sandbox has ended';
    for (const attempt of [...this.#attempts.keys()]) this.#cut(attempt, reason);
    for (const socket of this.#sockets) socket.destroy();
    this.#usage.close(this.meter.totalBytes);
    this.#record.close();
  }

  async #look(name: string, timeoutMs: number): ReturnType<LookUp> {
    const late = new Promise<never>((_, reject) => {
      const timer = setTimeout(
        () => reject(new RefusedAttempt('timeout', 'its name cannot be looked up in time')),
        timeoutMs,
      );
      timer.unref();
    });
    return Promise.race([this.#slots.run(() => this.#lookUp(name)), late]);
  }

  #spent(): void {
    this.#usage.close(this.meter.totalBytes);
    for (const attempt of [...this.#attempts.keys()])
      this.#cut(attempt, 'reached the limit of bytes sent and received');
  }

  #cut(attempt: Attempt, reason: string): void {
    const { cut } = attempt;
    attempt.end(reason);
    cut?.();
  }

  #write(line: RecordLine): void {
    try {
      this.#record.write(line);
    } catch (error) {
      throw new RefusedAttempt('limit', `it cannot be recorded (${(error as NodeJS.ErrnoException).code})`);
    }
  }
}
