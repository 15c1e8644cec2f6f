/** The daemon's side of the proxy: starts it, sends orders, and sends all attachments again to a new one. */
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { programFile } from '../../lib/file/package.ts';
import { openNextLog } from '../../lib/file/rotate.ts';
import { namespaceArgs } from '../../lib/sys/namespace.ts';
import { asFault, Fault, isFault } from '../../model/fault.ts';
import {
  controlVersion,
  type ProxyAnswer,
  type ProxyOrder,
  proxyFiles,
  readLines,
  sendLine,
  socketIn,
} from './control.ts';
import type { Attachment, Network } from './network.ts';

/** The time-out of a start, long enough for slow machines. */
const startMs = 30_000;
const startAgainMs = 2000;
const pollMs = 15;
/** The wait between two attempts to start it again. */
const retryMs = { least: 100, most: 5000 } as const;
/** Threads of the pool: each lookup of a name takes one. */
const threads = '64';

export interface ProxyOptions {
  readonly home: string;
  /** Gets faults that no caller waits for. */
  readonly report: (id: string, fault: Fault) => void;
}

export class ProxyProcess implements Network {
  readonly #options: ProxyOptions;
  readonly #folder: string;
  readonly #wanted = new Map<string, Attachment>();
  #connection: ControlConnection | null = null;
  #opening: Promise<ControlConnection> | null = null;
  #joining: Promise<ControlConnection | null> | null = null;
  #isDisposed = false;

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.#folder = join(options.home, 'network');
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  async attach(attachment: Attachment): Promise<void> {
    this.#wanted.set(attachment.id, attachment);
    const attach = async () => (await this.#open()).ask({ verb: 'attach', attachment });
    // A proxy that ended just now is started again.
    await attach().catch((error: unknown) => {
      if (!isFault(error, 'unavailable')) throw error;
      return attach();
    });
  }

  async detach(id: string): Promise<void> {
    this.#wanted.delete(id);
    await this.#orderExisting({ verb: 'detach', id });
  }

  async keepOnly(ids: readonly string[]): Promise<void> {
    for (const id of [...this.#wanted.keys()]) if (!ids.includes(id)) this.#wanted.delete(id);
    await this.#orderExisting({ verb: 'keepOnly', ids });
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#connection?.close();
  }

  /**
   * Sends an order to a running proxy. If there is none, or it ends meanwhile, nothing is attached and the order is
   * done.
   */
  async #orderExisting(order: ProxyOrder): Promise<void> {
    const connection = await this.#existing();
    await connection?.ask(order).catch((error: unknown) => {
      if (!isFault(error, 'unavailable')) throw error;
    });
  }

  /**
   * A connection to the proxy that runs already, if it is of this build. One at a time: the proxy serves the newest
   * only.
   */
  #existing(): Promise<ControlConnection | null> {
    if (this.#connection) return Promise.resolve(this.#connection);
    this.#joining ??= this.#join().finally(() => {
      this.#joining = null;
    });
    return this.#joining;
  }

  async #join(): Promise<ControlConnection | null> {
    const connection = await connectTo(this.#folder);
    return connection && (await connection.isSameBuild()) ? this.#adopt(connection) : null;
  }

  #open(): Promise<ControlConnection> {
    if (this.#connection) return Promise.resolve(this.#connection);
    this.#opening ??= this.#start().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #start(): Promise<ControlConnection> {
    const deadline = Date.now() + startMs;
    for (let startedMs = 0; Date.now() < deadline && !this.#isDisposed; await pause(pollMs)) {
      const connection = await this.#existing();
      if (connection) return connection;
      // A proxy that was started while another was exiting has exited, too.
      if (Date.now() - startedMs < startAgainMs) continue;
      startProxy(this.#options.home);
      startedMs = Date.now();
    }
    throw new Fault('unavailable', 'the network proxy does not start', {
      hint: `See ${join(this.#folder, proxyFiles.log)}.`,
    });
  }

  #adopt(connection: ControlConnection): ControlConnection {
    if (this.#connection === connection) return connection;
    this.#connection = connection;
    connection.onClose = () => {
      if (this.#connection !== connection) return;
      this.#connection = null;
      void this.#restart();
    };
    return connection;
  }

  /** Sends all attachments to the new proxy. */
  async #restart(): Promise<void> {
    for (let waitMs: number = retryMs.least; !this.#isDisposed && this.#wanted.size > 0; ) {
      try {
        const connection = await this.#open();
        await Promise.all([...this.#wanted.values()].map((attachment) => this.#attach(connection, attachment)));
        return;
      } catch (error) {
        this.#options.report('network', asFault(error));
        await pause(waitMs, undefined, { ref: false });
        waitMs = Math.min(waitMs * 2, retryMs.most);
      }
    }
  }

  async #attach(connection: ControlConnection, attachment: Attachment): Promise<void> {
    try {
      await connection.ask({ verb: 'attach', attachment });
    } catch (error) {
      const fault = asFault(error);
      // The connection broke: everything is sent again.
      if (fault.code === 'unavailable') throw fault;
      this.#options.report(attachment.id, fault);
    }
  }
}

/** A connection to one proxy. */
class ControlConnection {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (answer: ProxyAnswer | null) => void>();
  #serial = 0;
  #isClosed = false;
  onClose = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    readLines(socket, (value) => this.#settle(value as ProxyAnswer));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#isClosed = true;
      for (const settle of this.#waiting.values()) settle(null);
      this.onClose();
    });
  }

  /**
   * Sends an order and waits for its answer. It fails only after the connection has closed, so that a retry uses
   * another one.
   */
  async ask(order: ProxyOrder): Promise<void> {
    this.#serial += 1;
    const serial = this.#serial;
    const answer = await new Promise<ProxyAnswer | null>((resolve) => {
      if (this.#isClosed) resolve(null);
      this.#waiting.set(serial, resolve);
      sendLine(this.#socket, { serial, ...order });
    });
    this.#waiting.delete(serial);
    if (answer === null) throw new Fault('unavailable', 'the network proxy ended', { hint: 'It is started again.' });
    if (answer.fault) throw Fault.from(answer.fault);
  }

  /** A proxy of another build exits on this order. */
  async isSameBuild(): Promise<boolean> {
    try {
      await this.ask({ verb: 'hello', version: controlVersion });
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    this.#socket.destroy();
  }

  #settle(answer: ProxyAnswer): void {
    this.#waiting.get(answer.serial)?.(answer);
  }
}

/** Null: there is no proxy. */
function connectTo(folder: string): Promise<ControlConnection | null> {
  return new Promise((resolve) => {
    const { path, close } = socketIn(folder);
    const socket = connect(path);
    const settle = (connection: ControlConnection | null) => {
      close();
      resolve(connection);
    };
    socket.once('error', () => settle(null));
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      // The connection does not keep the daemon from exiting.
      socket.unref();
      settle(new ControlConnection(socket));
    });
  });
}

/** Starts the proxy in a mount namespace of its own, so that it does not keep mounts of daemons alive. */
function startProxy(home: string): void {
  const log = openNextLog(join(home, 'network', proxyFiles.log));
  const [file, ...args] = [...namespaceArgs(0), process.execPath, programFile('proxy')];
  try {
    const child = spawn(file, args, {
      detached: true,
      cwd: '/',
      stdio: ['ignore', log, log],
      env: { PATH: process.env.PATH ?? '', CARREL_HOME: home, UV_THREADPOOL_SIZE: threads },
    });
    child.on('error', () => {});
    child.unref();
  } finally {
    closeSync(log);
  }
}
