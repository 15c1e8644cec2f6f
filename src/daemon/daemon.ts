/** The only place where parts are made and wired together. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pino from 'pino';
import type { SandboxView } from '../api/routes.ts';
import { openAudit } from '../audit/audit-log.ts';
import { fairAudit } from '../audit/fair.ts';
import { openDockerEngine } from '../engine/docker/docker.ts';
import type { Engine } from '../engine/engine.ts';
import { shieldCrun } from '../engine/local/crun.ts';
import { identityOf, rootSpace } from '../engine/local/ids.ts';
import { openLocalEngine } from '../engine/local/local.ts';
import { anyShift } from '../engine/local/owner-namespace.ts';
import { lazyEngine, severalEngines } from '../engine/several.ts';
import { sweepTools } from '../launch/tools.ts';
import { accountName } from '../lib/account.ts';
import { Exclusive } from '../lib/exclusive.ts';
import { OwnLog } from '../lib/own-log.ts';
import { packageVersion } from '../lib/package.ts';
import { steadyClock } from '../lib/steady-clock.ts';
import { keepDescriptors } from '../lib/sys.ts';
import { asFault, type Fault, isFault } from '../model/fault.ts';
import { hasEnded, type Sandbox } from '../model/sandbox.ts';
import { grantedOf } from '../model/service.ts';
import { userHash } from '../model/volume.ts';
import { ProxyProcess } from '../network/proxy-process.ts';
import { Loop } from '../reconcile/loop.ts';
import { removeOrphans } from '../reconcile/orphans.ts';
import { Reconciler } from '../reconcile/reconcile.ts';
import { Given } from '../secret/given.ts';
import { Secrets } from '../secret/secret.ts';
import { openSqliteStore } from '../store/sqlite.ts';
import type { Store } from '../store/store.ts';
import { Volumes } from '../volume/volumes.ts';
import { setScratch, sweepScratch } from '../workspace/scratch.ts';
import { copyFolder } from '../workspace/snapshot/copy-folder.ts';
import { overlayRefusal, shiftRefusal } from '../workspace/trial.ts';
import { Applies } from './applies.ts';
import { forgetApplies } from './apply-journal.ts';
import { BaseWatch } from './base-watch.ts';
import { type Config, readConfig } from './config.ts';
import { CredentialSupply } from './credential-supply.ts';
import { CredentialDesk } from './credentials.ts';
import { createDoctor } from './doctor.ts';
import { EarlierOutput } from './earlier-output.ts';
import { EngineDesk } from './engines.ts';
import { FleetDesk } from './fleets.ts';
import type { Served } from './handlers.ts';
import { type Home, lockHome, openHome } from './home.ts';
import { ImageDesk, openImages } from './images.ts';
import { NetworkDesk } from './network-desk.ts';
import { Networks } from './networks.ts';
import { outputOf } from './output.ts';
import { Reviews } from './reviews.ts';
import { sandboxData } from './sandbox-data.ts';
import { Sandboxes } from './sandboxes.ts';
import { Scopes } from './scope.ts';
import { SecretDesk } from './secrets.ts';
import { listen } from './server.ts';
import { Snapshots } from './snapshots.ts';
import { Swarms } from './swarm-wiring.ts';
import { sweepFolders } from './sweep.ts';
import { Threads } from './threads.ts';
import { Users } from './users.ts';
import { mountedBy, VolumeDesk, volumeRecords, volumesOf } from './volumes.ts';
import { Work } from './work.ts';

/** How long a shutdown waits for steps under way. They are crash-safe: the next daemon goes on with them. */
const idleMs = 5000;
/** And for what somebody waits for the end of: applies, snapshots, forks. */
const workMs = 60_000;
/** How often it is looked whether the home is still there. */
const homeMs = 1000;

export interface Daemon {
  /** Sandboxes go on unless `all`. */
  shutdown(all: boolean): Promise<string[]>;
  readonly closed: Promise<void>;
}

export async function startDaemon(homeFolder: string, rootless: boolean): Promise<Daemon> {
  // The home itself is closed to others; what is made for sandboxes below it must be open to them.
  process.umask(0o022);
  keepDescriptors();
  const home = openHome(homeFolder, rootless, () => config.volumePrefix);
  const holdsHome = lockHome(home.home);
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, new OwnLog(join(home.home, 'daemon.log')));
  const config = readConfig(home.config);
  const store = openSqliteStore(home.database, config);
  const local = openLocalEngine({
    folder: home.engine,
    installation: home.installation,
    log: config.log,
  });
  shieldCrun();
  const docker = openDocker(home, config);
  const otherOwners = rootless ? null : await anyShift();
  const engineOf = (id: string) => store.get('sandbox', id)?.value.spec.engine ?? reconciler.engineOfVisit(id);
  const engine = severalEngines({ local, docker }, engineOf);
  const now = () => new Date().toISOString();
  const owner = ensureOwner(store, now());
  const audit = fairAudit({
    audit: openAudit({
      folder: home.audit,
      ...config.audit,
      now,
      report: (fault) => tolerant(() => log.error(fault.toJSON(), 'audit')),
    }),
    owner,
    clock: () => performance.now(),
  });
  const threads = new Threads({ scratch: home.scratch, installation: home.installation });
  setScratch(home.scratch, home.installation);
  const locks = new Exclusive();
  const report = (id: string, fault: Fault) => tolerant(() => log.warn({ id, ...fault.toJSON() }, 'reconcile'));
  const watch = new BaseWatch({ store, home, threads, locks, report });
  const secrets = new Secrets(home.home, userHash);
  const given = new Given(home.installation);
  const volumes = new Volumes({
    folder: home.volumes,
    backups: home.backups,
    prefix: config.volumePrefix,
    version: packageVersion(),
    records: volumeRecords(store),
    mountedBy: mountedBy(store, config.volumePrefix),
    agentOf: (user) => agentOf(store, user, rootless),
    copyFolder,
  });
  await volumes.recover(now());
  const useVolumes = ({ spec }: Sandbox) => {
    volumes.init(spec.user, now());
    for (const name of volumesOf(spec.user, spec.volumes, config.volumePrefix)) volumes.touch(name, now());
  };
  const supply = new CredentialSupply({ home, store, secrets, roots: config.authorities });
  const provideTrust = (sandbox: Sandbox) => supply.provideTrust(sandbox);
  const proxy = new ProxyProcess({
    home: home.home,
    report: (id, fault) => (isFault(fault, 'conflict') ? networks.failed(id, fault) : report(id, fault)),
  });
  const networks: Networks = new Networks({
    store,
    engine,
    network: proxy,
    limits: config.network.limits,
    folder: home.sandbox,
    credentials: (sandbox) => supply.keysOf(sandbox),
    services: ({ spec }) => grantedOf(spec.services ?? [], config.services),
    report,
  });
  const data = sandboxData({
    log: config.log,
    ...{ home, store, threads, watch, locks, secrets, given, useVolumes, provideTrust, networks, report, now },
  });
  const reconciler = new Reconciler({ store, engine, places: home, data, now });
  const loop = new Loop({ store, engine, reconciler, report });
  const users = new Users({ store, owner, sharedSocket: config.sharedSocket, now });
  const common = { store, engine, reconciler, now, steadyMs: steadyClock() };
  const deskOf = (user: string) => scopes.of(users.actorOf(user)).swarms.hands;
  const swarms = new Swarms({ store, config, deskOf, now, report });
  const keepBases = (sandbox: Sandbox) => watch.keep(sandbox);
  const imageParts = openImages(home, config, store, now);
  const scopes: Scopes = new Scopes((actor) => {
    const secretDesk = new SecretDesk(actor.name, {
      ...{ store, secrets, given, now },
      refresh: (id) => networks.look(id),
    });
    const credentialDesk = new CredentialDesk(actor, { store, secrets, now });
    const volumeDesk = new VolumeDesk(actor, {
      ...{ volumes, home, prefix: config.volumePrefix, now },
      users: () => users.list(users.actorOf(owner)).map(({ name }) => name),
    });
    const images = new ImageDesk(actor, {
      ...imageParts,
      projectFolder: (path) => sandboxes.project(path),
      refuseText: (where, text) => secretDesk.refuseText(where, text),
    });
    const sandboxes: Sandboxes = new Sandboxes({
      ...common,
      places: home,
      config,
      owner: actor.name,
      // Without root, agents on folders of the machine are the person who runs the daemon.
      get account() {
        return actor.isOwner ? 'any' : rootless ? null : (users.find(actor.name)?.uid ?? null);
      },
      overlayRefusal: (lower) =>
        overlayRefusal(lower, home.home, rootless ? 'user' : 'trusted') ??
        (otherOwners === null ? null : shiftRefusal(lower, home.home, otherOwners)),
      unapplied: data.unapplied,
      volumeMounts: (asked) => volumeDesk.mounts(asked),
      images,
      credentialGrants: (names) => credentialDesk.grants(names),
      checkSpec: (spec) => secretDesk.refuseIn(spec),
      networkTrouble: (id) => networks.trouble(id),
      wake: (id) => void loop.wake(id),
    });
    const parts = { ...common, sandboxes, home, threads, locks, keepBases };
    return {
      actor,
      sandboxes,
      reviews: new Reviews(parts),
      applies: new Applies(parts),
      snapshots: new Snapshots(parts),
      secrets: secretDesk,
      credentials: credentialDesk,
      volumes: volumeDesk,
      network: new NetworkDesk(actor, {
        store,
        sandboxes,
        networks,
        credentialHosts: (box) => supply.hostsOf(box),
        limits: config.network.limits,
        now,
      }),
      ...swarms.of(parts, {
        hasSecret: (name) => secretDesk.list().some((secret) => secret.name === name),
        credentialsFor: (preset) =>
          credentialDesk
            .list()
            .filter((one) => one.preset === preset)
            .map(({ name }) => name),
      }),
      fleets: new FleetDesk(actor, {
        sandboxes,
        volumes: volumeDesk,
        secrets: secretDesk,
        unapplied: data.unapplied,
        limits: config.limits,
        volumePrefix: config.volumePrefix,
      }),
      images,
    };
  });
  const { sandboxes, applies } = scopes.of({ name: owner, isOwner: true });
  given.sweep((id) => mayRun(store.get('sandbox', id)?.value));
  await sweepScratch(home.installation);
  await sweepFolders(home, (id) => store.get('sandbox', id) !== null);
  if (!store.list('sandbox').some(({ value }) => mayRun(value))) sweepTools(home.tools);
  // Before anybody can start something where a visit that was cut short still is.
  await removeOrphans(store, engine, report).catch((error: unknown) => report('sweep', asFault(error)));
  await applies.recover(report);
  await forgetApplies({ store, home, now });

  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const work = new Work();
  const finishWork = () => Promise.race([work.close(), pause(workMs, undefined, { ref: false })]);
  const shutdown = async (all: boolean) => {
    await finishWork();
    const running = all ? (await sandboxes.list(true)).filter((view) => view.state === 'running') : [];
    const stopOne = ({ user, name }: SandboxView) => scopes.of(users.actorOf(user)).sandboxes.stop(name);
    const names = (await Promise.all(running.map(stopOne))).map(({ name }) => name);
    loop.stop();
    watch.stop();
    swarms.orchestrator.dispose();
    for (const server of servers) {
      server.close();
      server.closeIdleConnections();
    }
    await Promise.race([reconciler.idle(), pause(idleMs, undefined, { ref: false })]);
    await engine.dispose();
    await threads.dispose();
    store.close();
    audit.flush();
    log.info('down');
    setImmediate(close);
    return names;
  };
  const engines = new EngineDesk({ local, dockerSocket: config.dockerSocket, store });
  const served: Served = {
    version: packageVersion(),
    home: home.home,
    rootless,
    startedAtMs: Date.now(),
    store,
    audit,
    engine,
    users,
    scopes,
    work,
    commandEnded: keepBases,
    output: (id, options) => outputOf(engine, id, new EarlierOutput(home.sandbox(id), config.log), options),
    doctor: createDoctor(local, { store, sandboxes, home, otherEngines: () => engines.dockerRows() }),
    engines,
    shutdown,
  };
  const servers = [await listen(served)];
  if (config.sharedSocket !== null) servers.push(await listen(served, config.sharedSocket));
  log.info({ home: home.home, rootless }, 'up');
  // Whoever asks meanwhile has what they ask about looked at first.
  void loop.start().then(() => networks.start());
  watch.start();
  swarms.orchestrator.recover();
  // Whoever comes next may have made that home anew: all in it is theirs, and nothing of it is touched.
  const looking = setInterval(() => {
    if (holdsHome()) return;
    clearInterval(looking);
    void finishWork().then(close);
  }, homeMs);
  looking.unref();
  return { shutdown, closed };
}

function openDocker({ home, installation }: Home, { dockerSocket, log }: Config): Engine {
  const socket = dockerSocket === null ? {} : { socketPath: dockerSocket };
  const folder = join(home, 'engine-docker');
  const open = () => openDockerEngine({ folder, installation, log, ...socket });
  return lazyEngine('docker', open, () => existsSync(folder));
}

/** Without root everything is the person's. */
function agentOf(store: Store, user: string, rootless: boolean): number | null {
  const slot = store.find('user', '', user)?.value.slot;
  return rootless || slot === undefined ? null : identityOf(slot, rootSpace).agentId;
}

/** One that was never seen to end may be running. */
function mayRun(sandbox: Sandbox | undefined): boolean {
  return sandbox !== undefined && !hasEnded(sandbox.status);
}

/** A log that cannot be written, on a full disk say, is no reason to stop. */
function tolerant(write: () => void): void {
  try {
    write();
  } catch {
    // Nowhere is left to say it, ignoring.
  }
}

/** The person who runs the daemon owns the installation and is its first user. */
function ensureOwner(store: Store, at: string): string {
  const first = store.list('user')[0];
  if (first) return first.name;
  const name = process.env.CARREL_OWNER ?? accountName();
  try {
    const value = { name, slot: 0, createdAt: at };
    store.insert(
      { kind: 'user', id: name, owner: '', name, value },
      { at, type: 'user.created', subject: name, data: { name } },
    );
  } catch (error) {
    if (!isFault(error, 'conflict')) throw error;
  }
  return name;
}
