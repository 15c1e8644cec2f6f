/** The agent of a session: started when it is needed, ended when it was idle for a while, and started again after it was lost. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionFold } from '../../model/session-fold.ts';
import { replace } from '../log/session-views.ts';
import type { AgentRecord, Driver, Recorder, StartDriver } from './driver.ts';

export interface AgentLinkOptions {
  readonly id: string;
  readonly folder: string;
  readonly fold: SessionFold;
  readonly start: StartDriver;
  readonly idleMs: () => number;
  readonly recorder: Omit<Recorder, 'remember'>;
}

export const recordFile = 'agent.json';

export class AgentLink {
  readonly #options: AgentLinkOptions;
  #known: AgentRecord = {};
  #driver: Promise<Driver> | null = null;
  /** The driver has started and not ended. */
  isReady = false;
  #idle: NodeJS.Timeout | null = null;

  static async open(options: AgentLinkOptions): Promise<AgentLink> {
    const link = new AgentLink(options);
    link.#known = await readRecord(options.folder);
    return link;
  }

  private constructor(options: AgentLinkOptions) {
    this.#options = options;
  }

  get known(): AgentRecord {
    return this.#known;
  }

  /** Returns the running driver, or starts one. */
  driver(): Promise<Driver> {
    this.busy();
    this.#driver ??= this.#start();
    return this.#driver;
  }

  /** The running driver, or null; starts none. */
  get present(): Promise<Driver> | null {
    return this.#driver;
  }

  async remember(change: Partial<AgentRecord>): Promise<void> {
    this.#known = { ...this.#known, ...change };
    await replace(join(this.#options.folder, recordFile), JSON.stringify(this.#known));
  }

  busy(): void {
    if (this.#idle) clearTimeout(this.#idle);
    this.#idle = null;
  }

  /** Starts the idle timer. When it fires, the agent is stopped, unless it would forget the conversation. */
  rest(): void {
    this.busy();
    this.#idle = setTimeout(() => void this.#endIdle(), this.#options.idleMs()).unref();
  }

  async stop(): Promise<void> {
    this.busy();
    await (await this.#driver?.catch(() => null))?.stop();
  }

  async #endIdle(): Promise<void> {
    const driver = await this.#driver?.catch(() => null);
    if (driver?.canLoad && this.#idle) await driver.stop();
  }

  #start(): Promise<Driver> {
    const { id, fold, start, recorder } = this.#options;
    const remember = (change: Partial<AgentRecord>) => this.remember(change);
    const options = {
      sessionId: id,
      agent: fold.agent,
      cwd: fold.cwd,
      known: this.#known,
      hasHistory: fold.lastEnd !== null,
    };
    const starting = start(options, { ...recorder, remember });
    const forget = () => {
      if (this.#driver !== starting) return;
      this.#driver = null;
      this.isReady = false;
    };
    starting.then(({ ended }) => {
      this.isReady = true;
      void ended.then(forget);
    }, forget);
    return starting;
  }
}

/** An unreadable record counts as missing: the agent then starts without its earlier session. */
export async function readRecord(folder: string): Promise<AgentRecord> {
  try {
    const record = JSON.parse(await readFile(join(folder, recordFile), 'utf8')) as AgentRecord;
    return typeof record === 'object' && record !== null ? record : {};
  } catch {
    return {};
  }
}
