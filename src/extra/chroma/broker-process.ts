/** The daemon's side of the broker: starts it, answers its questions, and starts it again when it ended. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { programFile } from '../../lib/file/package.ts';
import { openNextLog } from '../../lib/file/rotate.ts';
import { Backoff } from '../../lib/flow/backoff.ts';
import { Lines } from '../../lib/wire/lines.ts';
import { Fault } from '../../model/fault.ts';
import type { Chroma, ChromaStatus, FromBroker, ServerPlan, ToBroker } from './chroma.ts';
import type { ChromaPlace } from './model.ts';

export interface BrokerOptions {
  /** The folder of the broker's log. */
  readonly folder: string;
  readonly socket: string;
  /** The server that the settings ask for. Null: none; a text: why it is not available. */
  readonly plan: () => ServerPlan | string | null;
  readonly placeOf: (sandbox: string) => ChromaPlace | null;
}

const none: ChromaStatus = { state: 'absent', version: null, reason: null, setAside: [] };
/** How often the daemon checks whether the plan has changed or the broker has to be started. */
const lookMs = 2000;
const orderMs = 60_000;
const endMs = 8000;
const maxLine = 256 * 1024;

type Order = Extract<ToBroker, { serial: number }>;
type OrderWithoutSerial = Order extends infer One ? (One extends Order ? Omit<One, 'serial'> : never) : never;

export class BrokerProcess implements Chroma {
  readonly #options: BrokerOptions;
  readonly #backoff = new Backoff();
  readonly #orders = new Map<number, (error: string | null) => void>();
  #child: ChildProcess | null = null;
  /** The plan that the child was started with. */
  #plan: ServerPlan | null = null;
  #status: ChromaStatus = none;
  #serial = 0;
  #atRest = 0;
  #timer: NodeJS.Timeout | null = null;
  #isDisposed = false;

  constructor(options: BrokerOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => this.refresh(), lookMs);
    this.#timer.unref();
    this.refresh();
  }

  status(): ChromaStatus {
    this.refresh();
    return this.#status;
  }

  refresh(): void {
    if (this.#isDisposed || this.#atRest > 0) return;
    const plan = this.#options.plan();
    if (plan === null || typeof plan === 'string') {
      this.#child?.stdin?.end();
      this.#status = { ...none, reason: plan };
      return;
    }
    // A broker with another plan is ended here; its end starts the new one.
    if (this.#child !== null) this.#endIfOther(plan);
    else if (this.#backoff.waitMs(performance.now()) === 0) this.#begin(plan);
  }

  async whileAtRest<T>(act: () => Promise<T>): Promise<T> {
    this.#atRest += 1;
    try {
      if (this.#child !== null) await this.#order({ verb: 'rest' });
      return await act();
    } finally {
      this.#atRest -= 1;
      if (this.#atRest === 0 && this.#child !== null) await this.#order({ verb: 'go' }).catch(() => {});
      this.refresh();
    }
  }

  async release(sandbox: string, place: ChromaPlace): Promise<void> {
    if (this.#child !== null) await this.#order({ verb: 'drop', sandbox, place });
  }

  async erase(tenant: string): Promise<void> {
    if (this.#child === null) {
      const why = this.#status.reason ?? `it is ${this.#status.state}`;
      throw new Fault('unavailable', `Chroma does not run (${why}): nothing was removed`, {
        hint: 'See: carrel doctor',
      });
    }
    await this.#order({ verb: 'erase', tenant });
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    clearInterval(this.#timer ?? undefined);
    const child = this.#child;
    if (child === null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.stdin?.end();
    const timer = setTimeout(() => child.kill('SIGKILL'), endMs);
    await ended;
    clearTimeout(timer);
  }

  #endIfOther(plan: ServerPlan): void {
    if (JSON.stringify(plan) !== JSON.stringify(this.#plan)) this.#child?.stdin?.end();
  }

  #begin(plan: ServerPlan): void {
    const child = startBroker(this.#options.folder, plan.kind === 'local');
    this.#child = child;
    this.#plan = plan;
    this.#status = { ...none, state: 'starting' };
    const lines = new Lines(maxLine);
    child.stdout?.on('data', (chunk: Buffer) => {
      for (const line of lines.push(chunk)) this.#take(child, JSON.parse(line) as FromBroker);
    });
    child.stdin?.on('error', () => {});
    child.once('error', () => this.#ended(child));
    child.once('exit', () => this.#ended(child));
    this.#send({ verb: 'begin', socket: this.#options.socket, plan });
  }

  #take(child: ChildProcess, message: FromBroker): void {
    if (child !== this.#child) return;
    if (message.verb === 'ask') {
      const { sandbox } = message;
      this.#send({ verb: 'place', sandbox, place: this.#options.placeOf(sandbox) });
    } else if (message.verb === 'done') this.#settle(message.serial, message.error);
    else {
      this.#status = message.status;
      if (message.status.state === 'ready') this.#backoff.succeeded();
    }
  }

  #ended(child: ChildProcess): void {
    if (child !== this.#child) return;
    this.#child = null;
    this.#backoff.failed(performance.now());
    this.#status = { ...this.#status, state: 'failed', reason: 'its broker ended and is started again' };
    for (const serial of [...this.#orders.keys()]) this.#settle(serial, 'the broker ended');
    this.refresh();
  }

  #order(order: OrderWithoutSerial): Promise<void> {
    this.#serial += 1;
    const serial = this.#serial;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#settle(serial, 'the broker does not answer'), orderMs);
      this.#orders.set(serial, (error) => {
        clearTimeout(timer);
        if (error === null) resolve();
        else reject(new Fault('unavailable', `Chroma: ${error}`));
      });
      this.#send({ ...order, serial } as Order);
    });
  }

  #settle(serial: number, error: string | null): void {
    this.#orders.get(serial)?.(error);
    this.#orders.delete(serial);
  }

  #send(message: ToBroker): void {
    this.#child?.stdin?.write(`${JSON.stringify(message)}\n`);
  }
}

/**
 * If the broker starts the server, both are in a network namespace of their own, where only the broker can reach the
 * server.
 */
function startBroker(folder: string, hasServer: boolean): ChildProcess {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const log = openNextLog(join(folder, 'broker.log'));
  const program = [process.execPath, programFile('chroma-broker')] as const;
  const [file, ...args] = hasServer ? (['unshare', '--net', '--', ...program] as const) : program;
  try {
    const env = { PATH: process.env.PATH ?? '', CARREL_HOME: dirname(folder) };
    return spawn(file, args, { cwd: '/', stdio: ['pipe', 'pipe', log], env });
  } finally {
    closeSync(log);
  }
}
