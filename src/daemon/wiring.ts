/**
 * Constructs the parts that all users share. A part that needs a later part gets a function, and calls it only when
 * used.
 */

import { join } from 'node:path';
import { CredentialSupply } from '../app/credential/supply.ts';
import { measureRunning, stopForDisk } from '../app/disk/measure.ts';
import { SpaceHints } from '../app/disk/space-hint.ts';
import { DiskWatch } from '../app/disk/watch.ts';
import { HubTokens } from '../app/hub/tokens.ts';
import { openImages } from '../app/image/images.ts';
import { AgentServers } from '../app/mcp/agent-servers.ts';
import { Networks } from '../app/network/networks.ts';
import { sandboxData } from '../app/sandbox/data.ts';
import { Users } from '../app/user/users.ts';
import { mountedBy, volumeRecords, volumesOf } from '../app/volume/volumes.ts';
import { forgetApplies } from '../app/workspace/apply-journal.ts';
import { BaseWatch } from '../app/workspace/base-watch.ts';
import { unappliedIn } from '../app/workspace/unapplied.ts';
import type { Chroma } from '../chroma/chroma.ts';
import { identityOf, rootSpace } from '../engine/local/ids.ts';
import { TokenKeys } from '../hub/token-key.ts';
import type { Detect } from '../image/source.ts';
import { packageVersion } from '../lib/package.ts';
import { freeAt } from '../lib/reserve.ts';
import { isFault } from '../model/fault.ts';
import { hubPlace } from '../model/hub-service.ts';
import type { Sandbox } from '../model/sandbox.ts';
import { type DeclaredService, grantedOf } from '../model/service.ts';
import { userHash, volumeName } from '../model/volume.ts';
import { ProxyProcess } from '../network/proxy-process.ts';
import { Loop } from '../reconcile/loop.ts';
import { createReconciler } from '../reconcile/reconciler.ts';
import { MemorySecrets } from '../secret/sandbox-secrets.ts';
import { SecretFiles } from '../secret/secret-files.ts';
import { Volumes } from '../volume/volumes.ts';
import { copyFolder } from '../workspace/snapshot/copy-folder.ts';
import { chromaVolume } from './chroma-wiring.ts';
import { type Nouns, openNouns } from './noun-wiring.ts';
import { hubSocket } from './port-wiring.ts';
import type { Resources } from './resources.ts';

export type Parts = ReturnType<typeof openParts>;

export function openParts(resources: Resources) {
  const { home, config, store, engines, owner, threads, locks, report, now } = resources;
  const engineOf = engines.of;
  const watch = new BaseWatch({ store, home, threads, locks, report });
  const secrets = new SecretFiles(home.home, userHash);
  const sandboxSecrets = new MemorySecrets(home.installation);
  const volumes = openVolumes(resources, () => nouns.parts.chroma);
  const supply = new CredentialSupply({
    ...{ home, store, secrets },
    get roots() {
      return config.authorities;
    },
  });
  const proxy = new ProxyProcess({
    home: home.home,
    report: (id, fault) => (isFault(fault, 'conflict') ? networks.failed(id, fault) : report(id, fault)),
  });
  const networks: Networks = new Networks({
    store,
    engineOf,
    network: proxy,
    get limits() {
      return config.network.limits;
    },
    folder: home.sandbox,
    credentials: (sandbox) => supply.keysOf(sandbox),
    services: (sandbox) => [
      ...grantedOf(sandbox.spec.services ?? [], config.services).map((one) => atDaemon(one, home.home)),
      ...nouns.services(sandbox),
    ],
    requiresServices: (sandbox) => (sandbox.spec.services?.length ?? 0) > 0 || nouns.requiresServices(sandbox),
    report,
  });
  const nouns: Nouns = openNouns(resources, { secrets, volumes, agentOf: (user) => agentOf(resources, user) });
  const agentServers = new AgentServers({
    places: home,
    basePlugins: home.volume(volumeName(config.volumePrefix, 'base-plugins', owner)),
    secretIn: (user, text) => secrets.containing(user, text),
  });
  const data = sandboxData({
    agentServers,
    nouns: nouns.data,
    ...{ home, store, threads, watch, locks, secrets, sandboxSecrets, networks, report },
    log: config.log,
    useVolumes: (sandbox) => useVolumes(resources, volumes, sandbox),
    provideTrust: (sandbox) => supply.provideTrust(sandbox),
    unappliedIn: (sandbox) => unappliedIn({ home, threads }, sandbox),
    forgetApplies: (going) => forgetApplies({ store, home, now }, going),
  });
  const reconciler = createReconciler({ store, engineOf, places: home, data, now });
  const loop = new Loop({ store, engines, reconciler, report });
  const users = new Users({
    ...{ store, owner, sharedSocket: config.sharedSocket, now },
    release: (user) => nouns.parts.liveBanks.release(user),
  });
  const hubTokens = openTokens(resources, users);
  const detect: Detect = (project, base) => threads.run({ user: owner }, 'detectAt', project, base);
  const images = openImages(home, config, store, detect, now);
  const diskWatch = openDiskWatch(resources, loop);
  const spaceHints = new SpaceHints({ store, home });
  return {
    engineOf,
    watch,
    diskWatch,
    spaceHints,
    secrets,
    sandboxSecrets,
    volumes,
    supply,
    proxy,
    networks,
    data,
    reconciler,
    loop,
    users,
    hubTokens,
    images,
    nouns,
    ...nouns.parts,
    agentServers,
  };
}

/** Replaces the place of the hub by its socket: the daemon itself answers this service. */
function atDaemon(service: DeclaredService, home: string): DeclaredService {
  return service.to === hubPlace ? { ...service, to: hubSocket(home) } : service;
}

function openTokens({ home, store, audit, now }: Resources, users: Users): HubTokens {
  const keys = new TokenKeys(join(home.home, 'hub-keys'));
  return new HubTokens({ store, keys, audit, installation: home.installation, users, now });
}

function openDiskWatch({ home, config, store, reserve, report, now }: Resources, loop: Loop): DiskWatch {
  return new DiskWatch({
    ...{ reserve, report },
    free: () => freeAt(home.home),
    keepFreeBytes: () => config.keepFreeBytes,
    measure: (what) => measureRunning({ store, home }, what),
    stop: async (id, reason) => {
      stopForDisk(store, id, reason, now());
      await loop.wake(id);
    },
  });
}

function openVolumes(resources: Resources, chroma: () => Chroma): Volumes {
  const { home, config, store } = resources;
  return new Volumes({
    folder: home.volumes,
    backups: home.backups,
    prefix: config.volumePrefix,
    version: packageVersion(),
    records: volumeRecords(store),
    mountedBy: mountedBy(store, config.volumePrefix),
    agentOf: (user) => agentOf(resources, user),
    copyFolder,
    atRest: (name, act) => (name === chromaVolume(resources) ? chroma().whileAtRest(act) : act()),
  });
}

/** The host id of `agent` of a user; null: without root all files belong to the account of the daemon. */
function agentOf({ store, rootless }: Resources, user: string): number | null {
  const slot = store.find('user', '', user)?.value.slot;
  return rootless || slot === undefined ? null : identityOf(slot, rootSpace).agentId;
}

function useVolumes({ config, now }: Resources, volumes: Volumes, { spec }: Sandbox): void {
  volumes.init(spec.user, now());
  for (const name of volumesOf(spec.user, spec.volumes, config.volumePrefix)) volumes.touch(name, now());
}
