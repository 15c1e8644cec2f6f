/** The daemon's end: keeps a proxy running and tells it everything, again whenever it is a new one. */
import { spawn } from 'node:child_process';
import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { namespaceArgs } from '../lib/namespace.ts';
import { dist } from '../lib/package.ts';
import { rotateIfFull } from '../lib/rotate.ts';
import { asFault, Fault, isFault } from '../model/fault.ts';
import { type Answered, controlVersion, type Order, proxyFiles, readLines, sendLine, socketIn } from './control.ts';
import type { Attachment, Network } from './network.ts';

/** Long, for slow machines. */
const startMs = 30_000;
const startAgainMs = 2000;
const pollMs = 15;
/** Between two tries to bring a proxy back. */
const againMs = { least: 100, most: 5000 } as const;
/** Lookups of names take a thread each. */
const threads = '64';

export interface ProxyOptions {
  readonly home: string;
  /** What cannot be told to anybody who asked. */
  readonly report: (id: string, fault: Fault) => void;
}

export class ProxyProcess implements Network {
  readonly #options: ProxyOptions;
  readonly #folder: string;
  readonly #wanted = new Map<string, Attachment>();
  #line: Line | null = null;
  #opening: Promise<Line> | null = null;
  #joining: Promise<Line | null> | null = null;
  #isDisposed = false;

  constructor(options: ProxyOptions) {
    this.#options = options;
    this.#folder = join(options.home, 'network');
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  async attach(attachment: Attachment): Promise<void> {
    this.#wanted.set(attachment.id, attachment);
    const attach = async () => (await this.#open()).ask({ verb: 'attach', attachment });
    // One that ended just now is started again.
    await attach().catch((error: unknown) => {
      if (!isFault(error, 'unavailable')) throw error;
      return attach();
    });
  }

  async detach(id: string): Promise<void> {
    this.#wanted.delete(id);
    await this.#tellExisting({ verb: 'detach', id });
  }

  async keepOnly(ids: readonly string[]): Promise<void> {
    for (const id of [...this.#wanted.keys()]) if (!ids.includes(id)) this.#wanted.delete(id);
    await this.#tellExisting({ verb: 'keepOnly', ids });
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#line?.close();
  }

  /** One that is not there, or ends meanwhile, has nothing attached. */
  async #tellExisting(order: Order): Promise<void> {
    const line = await this.#existing();
    await line?.ask(order).catch((error: unknown) => {
      if (!isFault(error, 'unavailable')) throw error;
    });
  }

  /** A proxy that runs already, and speaks as we do. One conversation at a time: it listens to the newest alone. */
  #existing(): Promise<Line | null> {
    if (this.#line) return Promise.resolve(this.#line);
    this.#joining ??= this.#join().finally(() => {
      this.#joining = null;
    });
    return this.#joining;
  }

  async #join(): Promise<Line | null> {
    const line = await connectTo(this.#folder);
    return line && (await line.isUnderstood()) ? this.#adopt(line) : null;
  }

  #open(): Promise<Line> {
    if (this.#line) return Promise.resolve(this.#line);
    this.#opening ??= this.#bringUp().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #bringUp(): Promise<Line> {
    const deadline = Date.now() + startMs;
    for (let startedMs = 0; Date.now() < deadline && !this.#isDisposed; await pause(pollMs)) {
      const line = await this.#existing();
      if (line) return line;
      // One that came while another was leaving has left, too.
      if (Date.now() - startedMs < startAgainMs) continue;
      startProxy(this.#options.home);
      startedMs = Date.now();
    }
    throw new Fault('unavailable', 'the network proxy does not start', {
      hint: `See ${join(this.#folder, proxyFiles.log)}.`,
    });
  }

  #adopt(line: Line): Line {
    if (this.#line === line) return line;
    this.#line = line;
    line.onClose = () => {
      if (this.#line !== line) return;
      this.#line = null;
      void this.#bringBack();
    };
    return line;
  }

  /** A new proxy knows nothing: it is told everything at once. */
  async #bringBack(): Promise<void> {
    for (let waitMs: number = againMs.least; !this.#isDisposed && this.#wanted.size > 0; ) {
      try {
        const line = await this.#open();
        await Promise.all([...this.#wanted.values()].map((attachment) => this.#tell(line, attachment)));
        return;
      } catch (error) {
        this.#options.report('network', asFault(error));
        await pause(waitMs, undefined, { ref: false });
        waitMs = Math.min(waitMs * 2, againMs.most);
      }
    }
  }

  async #tell(line: Line, attachment: Attachment): Promise<void> {
    try {
      await line.ask({ verb: 'attach', attachment });
    } catch (error) {
      const fault = asFault(error);
      // The line broke: everything is told again.
      if (fault.code === 'unavailable') throw fault;
      this.#options.report(attachment.id, fault);
    }
  }
}

/** A conversation with one proxy. */
class Line {
  readonly #socket: Socket;
  readonly #waiting = new Map<number, (answer: Answered | null) => void>();
  #serial = 0;
  #isClosed = false;
  onClose = () => {};

  constructor(socket: Socket) {
    this.#socket = socket;
    readLines(socket, (value) => this.#settle(value as Answered));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      this.#isClosed = true;
      for (const settle of this.#waiting.values()) settle(null);
      this.onClose();
    });
  }

  /** Fails once it has closed and not before: whoever tries again then does so on another. */
  async ask(order: Order): Promise<void> {
    this.#serial += 1;
    const serial = this.#serial;
    const answer = await new Promise<Answered | null>((resolve) => {
      if (this.#isClosed) resolve(null);
      this.#waiting.set(serial, resolve);
      sendLine(this.#socket, { serial, ...order });
    });
    this.#waiting.delete(serial);
    if (answer === null) throw new Fault('unavailable', 'the network proxy ended', { hint: 'It is started again.' });
    if (answer.fault) throw Fault.from(answer.fault);
  }

  /** One of another version leaves when it hears ours. */
  async isUnderstood(): Promise<boolean> {
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

  #settle(answer: Answered): void {
    this.#waiting.get(answer.serial)?.(answer);
  }
}

/** Null: there is no proxy. */
function connectTo(folder: string): Promise<Line | null> {
  return new Promise((resolve) => {
    const { path, close } = socketIn(folder);
    const socket = connect(path);
    const settle = (line: Line | null) => {
      close();
      resolve(line);
    };
    socket.once('error', () => settle(null));
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      // It holds up nobody who wants to end.
      socket.unref();
      settle(new Line(socket));
    });
  });
}

/** In a mount namespace of its own, so that it does not keep what daemons mount for themselves. */
function startProxy(home: string): void {
  const folder = join(home, 'network');
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  rotateIfFull(join(folder, proxyFiles.log));
  const log = openSync(join(folder, proxyFiles.log), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  const main = join(dist, 'network/proxy/main.js');
  const [file, ...args] = [...namespaceArgs(0), process.execPath, main];
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
