/** One sandbox, as the proxy knows it: what it may do, what it is doing, and its share of everything. */
import type { Socket } from 'node:net';
import { isAlive } from '../../lib/process.ts';
import type { Endpoint } from '../../model/host.ts';
import { NetworkPolicy } from '../../model/network.ts';
import { judge, type LookUp, Refused } from '../lookup.ts';
import type { Attachment } from '../network.ts';
import { RecordFile, type RecordLine, type Via } from '../record.ts';
import { Attempt } from './attempt.ts';
import { dialOne } from './dial.ts';
import type { Gate } from './listener.ts';
import { Meter } from './meter.ts';
import { Pace, Slots } from './pace.ts';
import { type Look, type Passing, relay } from './relay.ts';
import { UsageFile } from './usage.ts';

/** New connections and requests of one sandbox. */
const attemptsPerSecond = 400;
const attemptBurst = 1500;
/** Names of one sandbox that are being looked up at a time. */
const lookUpsAtOnce = 4;

/** Which of its rules a dial goes by: its own, or those of a credential it was given. */
export type Rules = (attached: Attached) => NetworkPolicy;

const notAllowed = 'not allowed any more';

const ownRules: Rules = ({ policy }) => policy;

export class Attached {
  readonly #lookUp: LookUp;
  readonly #slots = new Slots(lookUpsAtOnce);
  readonly #pace = new Pace(attemptsPerSecond, attemptBurst);
  readonly #sockets = new Set<Socket>();
  readonly #attempts = new Map<Attempt, Rules>();
  readonly #record: RecordFile;
  readonly #usage: UsageFile;
  readonly #serial: () => string;
  readonly meter: Meter;
  #attachment: Attachment;
  #policy: NetworkPolicy;
  #isGone = false;
  /** Called when a connection has gone and others may come. */
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

  /** What is not allowed any more is cut. */
  change(attachment: Attachment): void {
    this.#attachment = attachment;
    this.#policy = new NetworkPolicy(attachment.allow);
    this.meter.change(attachment.limits);
    for (const [attempt, rules] of this.#attempts) {
      if (attempt.asked !== null && !rules(this).decide(attempt.asked).allowed) this.#cut(attempt, notAllowed);
    }
    if (this.meter.isSpent) this.#spent();
  }

  readonly gate: Gate = {
    pace: this.#pace,
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

  attempt(via: Via, rules: Rules = ownRules): Attempt {
    const attempt = new Attempt(
      this.#serial(),
      via,
      (line) => this.#write(line),
      (ended) => void this.#attempts.delete(ended),
    );
    this.#attempts.set(attempt, rules);
    return attempt;
  }

  /** For what comes on a connection that is open already: waits until the sandbox may try again. */
  async turn(): Promise<void> {
    const waitMs = this.#pace.takeMs();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }

  /** Judged, recorded, connected. Throws `Refused`. */
  async dial(attempt: Attempt, asked: Endpoint, rules: Rules = ownRules): Promise<Socket> {
    const stop = new AbortController();
    attempt.asked = asked;
    attempt.cut = () => stop.abort();
    this.#attempts.set(attempt, rules);
    if (this.meter.isSpent) throw new Refused('limit', 'the sandbox has used up what it may send and receive in all');
    const { connectMs } = this.#attachment.limits;
    const { rule, addresses } = await judge(rules(this), asked, (name) => this.#look(name, connectMs));
    const socket = await dialOne(asked, addresses, connectMs, stop.signal).catch((error: unknown) => {
      attempt.allow(asked, rule, addresses[0]!.text);
      throw error;
    });
    try {
      // The rules may have changed since they were looked at.
      if (this.#isGone || !rules(this).decide(asked).allowed)
        throw new Refused('not_allowed', 'it is not allowed any more');
      attempt.allow(asked, rule, socket.remoteAddress ?? addresses[0]!.text);
      return socket;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  }

  /** Both ways until both have ended; `attempt` ends with it. */
  connect(attempt: Attempt, client: Socket, upstream: Socket, look: Look | null = null): void {
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

  /** Everything of it is over. One that lives is here no more because nothing is allowed to it. */
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
      const timer = setTimeout(() => reject(new Refused('timeout', 'its name cannot be looked up in time')), timeoutMs);
      timer.unref();
    });
    return Promise.race([this.#slots.run(() => this.#lookUp(name)), late]);
  }

  #spent(): void {
    this.#usage.close(this.meter.totalBytes);
    for (const attempt of [...this.#attempts.keys()]) this.#cut(attempt, 'used up what it may send and receive in all');
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
      throw new Refused('limit', `it cannot be recorded (${(error as NodeJS.ErrnoException).code})`);
    }
  }
}
