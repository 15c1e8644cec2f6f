/**
 * The first resources of a daemon, opened in this order: lock of the home, logs, settings, store, engines, audit log.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pino, { type Logger } from 'pino';
import { OwnLog } from '../../lib/file/own-log.ts';
import { Reserve } from '../../lib/file/reserve.ts';
import { setScratch } from '../../lib/file/scratch.ts';
import { Exclusive } from '../../lib/flow/exclusive.ts';
import { setCloseOnExec } from '../../lib/sys/sys.ts';
import type { Fault } from '../../model/fault.ts';
import type { Config } from '../../noun/app.ts';
import { ensureOwner } from '../../noun/user/app/owner.ts';
import { volumeName } from '../../noun/volume/model.ts';
import type { Audit } from '../audit/audit.ts';
import { openAudit } from '../audit/audit-log.ts';
import { limitPerUser } from '../audit/user-limit.ts';
import { findSocket } from '../engine/docker/connection/socket.ts';
import { openDockerEngine } from '../engine/docker/docker.ts';
import { type EngineSource, Engines } from '../engine/engines.ts';
import { type LocalEngineView, openLocalEngine } from '../engine/local/local.ts';
import { shieldCrun } from '../engine/local/runtime/crun.ts';
import { type Home, lockHome, openHome } from '../home/home.ts';
import { Threads } from '../job/threads.ts';
import type { Kernel } from '../kernel.ts';
import { Settings } from '../settings/settings.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import { dropGroups } from './groups.ts';

/** Space for files that are mapped into memory: writing to one on a full disk would end the process. */
const startBytes = 256 * 1024;

/** The kernel with the settings of all nouns, for wirings. */
export interface ConfiguredKernel extends Kernel {
  /** The settings as they are now: a value is read when it is used. */
  readonly config: Config;
}

/** The kernel, and what only the daemon uses of what it opens first. */
export interface Resources extends ConfiguredKernel {
  readonly holdsHome: () => boolean;
  readonly reserve: Reserve;
  readonly settings: Settings;
  readonly log: Logger;
  readonly local: LocalEngineView;
}

/** `makesSandboxes`: false in a process that has no mount namespace of its own. */
export function openResources(homeFolder: string, rootless: boolean, makesSandboxes: boolean): Resources {
  // Only the owner can enter the home, so files below it can be open to others, which sandboxes need.
  process.umask(0o022);
  setCloseOnExec();
  const home = openHome(homeFolder, rootless, (user) => volumeName(config.volumePrefix, 'home', user));
  const holdsHome = lockHome(home.home);
  const reserve = new Reserve(join(home.home, 'reserve'));
  reserve.provide(startBytes);
  const log = openLog(join(home.home, 'daemon.log'));
  const settings = new Settings(home.config);
  const { config } = settings;
  dropGroups(rootless, config.dockerSocket ?? engineSocket());
  const giveUpSpace = () => reserve.giveUp();
  const store = reserve.with(() => openSqliteStore(home.database, { maxEvents: config.maxEvents, giveUpSpace }));
  const { engine: folder, installation } = home;
  const local = openLocalEngine({ folder, installation, log: config.log, makesSandboxes });
  if (makesSandboxes) shieldCrun();
  const engines = new Engines({
    local: { open: () => local, wasUsed: () => true },
    docker: dockerSource(home, config),
  });
  const now = () => new Date().toISOString();
  const owner = ensureOwner(store, now());
  const auditTrouble = (fault: Fault) => log.error(fault.toJSON(), 'audit');
  const audit: Audit = limitPerUser({
    audit: openAudit({ folder: home.audit, ...config.audit, now, report: auditTrouble }),
    owner,
    clock: () => performance.now(),
  });
  const threads = new Threads({ scratch: home.scratch, installation: home.installation });
  setScratch(home.scratch, home.installation);
  return {
    ...{ home, holdsHome, reserve, rootless, settings, config, log, store, local, engines, owner, audit, threads, now },
    engineOf: engines.of,
    locks: new Exclusive(),
    report: (id: string, fault: Fault) => log.warn({ id, ...fault.toJSON() }, 'reconcile'),
  };
}

function dockerSource({ home, installation }: Home, { dockerSocket, log }: Config): EngineSource {
  const socket = dockerSocket === null ? {} : { socketPath: dockerSocket };
  const folder = join(home, 'engine-docker');
  return {
    open: () => openDockerEngine({ folder, installation, log, ...socket }),
    wasUsed: () => existsSync(folder),
  };
}

/** Null: no socket was found; opening the engine reports the reason. */
function engineSocket(): string | null {
  try {
    return findSocket(process.env);
  } catch {
    return null;
  }
}

/** The daemon goes on if its log cannot be written, such as on a full disk. */
function openLog(path: string): Logger {
  const own = new OwnLog(path);
  const write = (text: string) => {
    try {
      own.write(text);
    } catch {
      // There is no other place to report the error, ignoring.
    }
  };
  return pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
}
