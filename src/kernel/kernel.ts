/**
 * What every noun stands on, in one daemon: its home, records, engines and threads. The settings come from the nouns, so only the wirings
 * have them beside (`daemon/resources.ts`).
 *
 * The daemon opens these first and closes them last, so they are there as long as any noun is. Wirings get all of it. Other code
 * names the members that it needs, as `Pick<Kernel, 'store' | 'now'>`, so that a reader sees what it can touch and a test
 * gives no more.
 *
 * - `locks` are by the id of a sandbox: one task at a time changes the state of a sandbox.
 * - `report` is for errors that no caller waits for. It never throws.
 * - `now` is the time of records and events. Ages are measured by steady clocks instead.
 */
import type { Exclusive } from '../lib/flow/exclusive.ts';
import type { Fault } from '../model/fault.ts';
import type { Audit } from './audit/audit.ts';
import type { EngineOf } from './engine/engine.ts';
import type { Engines } from './engine/engines.ts';
import type { Home } from './home/home.ts';
import type { Threads } from './job/threads.ts';
import type { Store } from './store/store.ts';

export interface Kernel {
  readonly home: Home;
  readonly store: Store;
  readonly engines: Engines;
  readonly engineOf: EngineOf;
  readonly threads: Threads;
  readonly audit: Audit;
  readonly locks: Exclusive;
  /** The user who owns the installation. */
  readonly owner: string;
  /** True: the daemon is not root of the machine. */
  readonly rootless: boolean;
  readonly report: (id: string, fault: Fault) => void;
  readonly now: () => string;
}
