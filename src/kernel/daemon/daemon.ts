/**
 * The life of a daemon: it opens its resources, constructs all parts, recovers what an earlier daemon left, and answers
 * requests. It ends by `down`, or when its home is removed. Sandboxes keep running unless `down --all` stops them.
 */
import { renameSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isErrno } from '../../lib/file/file.ts';
import { buildNote, ownBuild, packageVersion } from '../../lib/file/package.ts';
import { withTimeout } from '../../lib/flow/with-timeout.ts';
import { Work } from '../../lib/flow/work.ts';
import { asFault } from '../../model/fault.ts';
import { recoverAll, routes, type Scope, startAll } from '../../noun/app.ts';
import { mcpPath } from '../../noun/hub/app/hub-port.ts';
import type { Installation } from '../../noun/installation/installation.ts';
import type { SandboxView } from '../../noun/sandbox/api.ts';
import type { Sessions } from '../../noun/session/session.ts';
import type { Swarms } from '../../noun/swarm/swarm.ts';
import { type Listening, listen } from '../server/listen.ts';
import { openapi } from '../server/openapi.ts';
import type { Port } from '../server/port.ts';
import type { ScopedNouns } from './noun-wiring.ts';
import { openHubPort, openSandboxHub, portRefusal } from './port-wiring.ts';
import { openResources, type Resources } from './resources.ts';
import { openScopes } from './scope-wiring.ts';
import type { Scopes } from './scopes.ts';
import { openParts, type Parts } from './wiring.ts';

/** How long a shutdown waits for steps under way. They are crash-safe: the next daemon continues them. */
const idleMs = 5000;
/** How long a shutdown waits for work that a client waits for: applies, snapshots, forks. */
const workMs = 60_000;
/** How long networks wait for all sandboxes to settle: those of an engine that does not answer never settle. */
const settleMs = 10_000;
/** How often the daemon checks that its home still exists. */
const homeMs = 1000;

export interface Daemon {
  /** Sandboxes keep running unless `all`. Resolves to the names of the stopped ones. */
  shutdown(all: boolean): Promise<string[]>;
  readonly closed: Promise<void>;
}

/** All constructed parts. */
interface Whole extends Resources, Parts {
  readonly scopes: Scopes<Scope>;
  readonly liveSwarms: Swarms;
  readonly liveSessions: Sessions;
  readonly scopedNouns: ScopedNouns;
  /** The scope of the owner of the installation. */
  readonly own: Scope;
  readonly work: Work;
  readonly servers: Server[];
  /** Null: no port is configured. */
  port: Port | null;
  /** Null: the disk had no room for its socket. */
  sandboxHub: Port | null;
}

export interface Start {
  readonly rootless: boolean;
  /** Replaces the port in config.yaml. */
  readonly port: number | null;
  /** Set in the container of a hub, with the host names of that container. Such a daemon makes no sandboxes. */
  readonly container: { readonly names: readonly string[] } | null;
}

export async function startDaemon(homeFolder: string, { rootless, port, container }: Start): Promise<Daemon> {
  const resources = openResources(homeFolder, rootless, container === null);
  const parts = openParts(resources);
  let close = () => {};
  const closed = new Promise<void>((resolve) => {
    close = resolve;
  });
  const shutdown = async (all: boolean) => {
    const names = await end(whole, all);
    setImmediate(close);
    return names;
  };
  const work = new Work();
  const { scopes, ...opened } = await openScopes(resources, parts, {
    installation: installationOf(resources, shutdown, () => whole.port),
    work,
  });
  const own = scopes.of({ name: resources.owner, isOwner: true });
  const whole: Whole = {
    ...resources,
    ...parts,
    scopes,
    ...opened,
    own,
    work,
    servers: [],
    port: null,
    sandboxHub: null,
  };
  await recoverAll(own);
  await answer(whole, { port, container });
  begin(whole);
  leaveWithHome(whole, close);
  return { shutdown, closed };
}

function installationOf(
  { home, rootless, settings, store }: Resources,
  shutdown: Daemon['shutdown'],
  port: () => Port | null,
): Installation {
  const version = packageVersion();
  const origin = () => port()?.origin ?? null;
  return {
    ...{ version, rootless, settings, shutdown, home: home.home, startedAtMs: Date.now() },
    lastSeq: () => store.lastSeq(),
    mcp: () => (origin() === null ? null : `${origin()}${mcpPath}`),
    port: { settings: () => settings.inFile.http, refusal: portRefusal },
    document: () => openapi(version, routes),
  };
}

async function answer(whole: Whole, { port, container }: Omit<Start, 'rootless'>): Promise<void> {
  const { home, config, settings, rootless, store, audit, users, scopes, spaceHints, reserve, servers } = whole;
  const listening: Listening = {
    ...{ routes, settings, store, audit, users, scopes, spaceHints },
    home: home.home,
    build: ownBuild(),
    giveUpSpace: () => reserve.giveUp(),
  };
  // The port is opened first, because it may fail: then no client has got an answer yet.
  whole.port = await openHubPort({ settings: config.http, port, container }, whole);
  servers.push(await listen(listening));
  await listenForSandboxes(whole);
  if (config.sharedSocket !== null) servers.push(await listen(listening, config.sharedSocket));
  noteBuild(home.home);
  whole.log.info({ home: home.home, rootless }, 'up');
}

/** On a full disk the sockets may not fit. The daemon starts without them, because clients need it to free space. */
async function listenForSandboxes(whole: Whole): Promise<void> {
  const { log, scopedNouns } = whole;
  try {
    await scopedNouns.listen();
    whole.sandboxHub = await openSandboxHub(whole);
  } catch (error) {
    if (!isErrno(error, 'ENOSPC')) throw error;
    log.warn('the disk is full: sandboxes reach the memory and the hub after the next start of the daemon');
  }
}

/** Writes the note of this build, which commands compare with their own build. */
function noteBuild(home: string): void {
  const path = join(home, buildNote);
  try {
    writeFileSync(`${path}.new`, `${JSON.stringify({ pid: process.pid, ...ownBuild() })}\n`, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  } catch {
    // The disk is full, ignoring: commands do not use the note of an earlier daemon, which has another pid.
  }
}

/** Starts the loops. If a request is about a sandbox that is not observed yet, the request observes it first. */
function begin(whole: Whole): void {
  const { loop, networks, watch, diskWatch, settings, report, nouns, own } = whole;
  const observed = withTimeout(settleMs, loop.start(), () => {});
  void observed.then(() => networks.start());
  // Running sandboxes lose the services and authorities that are no longer declared.
  settings.onChange = () => {
    nouns.settingsChanged();
    void networks.start().catch((error: unknown) => report('settings', asFault(error)));
  };
  watch.start();
  diskWatch.start();
  nouns.start(observed);
  startAll(own, observed);
}

/**
 * Ends the daemon when its home is removed. Another daemon may have made a new home there, so the home is not changed.
 */
function leaveWithHome({ holdsHome, work }: Whole, close: () => void): void {
  const looking = setInterval(() => {
    if (holdsHome()) return;
    clearInterval(looking);
    void finish(work).then(close);
  }, homeMs);
  looking.unref();
}

async function end(whole: Whole, all: boolean): Promise<string[]> {
  const { loop, watch, diskWatch, liveSwarms, reconciler, engines, proxy, threads, store, audit, log } = whole;
  whole.port?.stop();
  whole.sandboxHub?.stop();
  await finish(whole.work);
  const names = all ? await stopAll(whole) : [];
  loop.stop();
  watch.stop();
  diskWatch.stop();
  liveSwarms.dispose();
  await withTimeout(idleMs, whole.scopedNouns.stop(), () => {});
  await withTimeout(idleMs, whole.liveSessions.dispose(), () => {});
  await whole.port?.close();
  await whole.sandboxHub?.close();
  for (const server of whole.servers) {
    server.close();
    server.closeIdleConnections();
  }
  await Promise.race([reconciler.idle(), pause(idleMs, undefined, { ref: false })]);
  await engines.dispose();
  proxy.dispose();
  await threads.dispose();
  whole.scopedNouns.dispose();
  await whole.nouns.dispose();
  store.close();
  audit.flush();
  log.info('down');
  return names;
}

async function finish(work: Work): Promise<void> {
  await Promise.race([work.close(), pause(workMs, undefined, { ref: false })]);
}

async function stopAll({ scopes, users, own }: Whole): Promise<string[]> {
  const running = (await own.sandboxes.list(true)).filter(({ state }) => state === 'running' || state === 'pending');
  const stopOne = ({ user, name }: SandboxView) => scopes.of(users.actorOf(user)).sandboxes.stop(name);
  return (await Promise.all(running.map(stopOne))).map(({ name }) => name);
}
