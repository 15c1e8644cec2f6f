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
import { agentIdOf, Users } from '../app/user/users.ts';
import { mountedBy, useVolumes, volumeRecords } from '../app/volume/volumes.ts';
import { forgetApplies } from '../app/workspace/apply-journal.ts';
import { BaseWatch } from '../app/workspace/base-watch.ts';
import { unappliedIn } from '../app/workspace/unapplied.ts';
import type { Chroma } from '../chroma/chroma.ts';
import { TokenKeys } from '../hub/token-key.ts';
import type { Detect } from '../image/source.ts';
import { packageVersion } from '../lib/package.ts';
import { freeAt } from '../lib/reserve.ts';
import { isFault } from '../model/fault.ts';
import { hubPlace } from '../model/hub-service.ts';
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
  const { home, store, engines, threads, locks, report, now } = resources;
  const engineOf = engines.of;
  const watch = new BaseWatch({ store, home, threads, locks, report });
  const kept = openSecrets(resources);
  const volumes = openVolumes(resources, () => nouns.parts.chroma);
  const network = openNetwork(resources, kept.supply, () => nouns);
  const agentOf = (user: string) => agentIdOf(resources, user);
  const nouns: Nouns = openNouns(resources, { secrets: kept.secrets, volumes, agentOf });
  const agentServers = openAgentServers(resources, kept.secrets);
  const { networks } = network;
  const data = openData(resources, { ...kept, volumes, networks, watch, agentServers, nouns: nouns.data });
  const reconciler = createReconciler({ store, engineOf, places: home, data, now });
  const loop = new Loop({ store, engines, reconciler, report });
  const users = openUsers(resources, nouns.parts.liveBanks);
  return {
    ...{ engineOf, watch, volumes, agentServers, data, reconciler, loop, users, nouns },
    ...kept,
    ...network,
    ...nouns.parts,
    hubTokens: openTokens(resources, users),
    images: openUserImages(resources),
    diskWatch: openDiskWatch(resources, loop),
    spaceHints: new SpaceHints({ store, home }),
  };
}

function openSecrets({ home, config, store }: Resources) {
  const secrets = new SecretFiles(home.home, userHash);
  const supply = new CredentialSupply({
    ...{ home, store, secrets },
    get roots() {
      return config.authorities;
    },
  });
  return { secrets, sandboxSecrets: new MemorySecrets(home.installation), supply };
}

/** The proxy, and what it is told of the sandboxes. */
function openNetwork(
  { home, config, store, engines, report }: Resources,
  supply: CredentialSupply,
  nouns: () => Nouns,
) {
  const proxy = new ProxyProcess({
    home: home.home,
    report: (id, fault) => (isFault(fault, 'conflict') ? networks.failed(id, fault) : report(id, fault)),
  });
  const networks: Networks = new Networks({
    ...{ store, engineOf: engines.of, network: proxy, report },
    get limits() {
      return config.network.limits;
    },
    folder: home.sandbox,
    credentials: (sandbox) => supply.keysOf(sandbox),
    services: (sandbox) => [
      ...grantedOf(sandbox.spec.services ?? [], config.services).map((one) => atDaemon(one, home.home)),
      ...nouns().services(sandbox),
    ],
    requiresServices: (sandbox) => (sandbox.spec.services?.length ?? 0) > 0 || nouns().requiresServices(sandbox),
  });
  return { proxy, networks };
}

function openAgentServers({ home, config, owner }: Resources, secrets: SecretFiles): AgentServers {
  return new AgentServers({
    places: home,
    basePlugins: home.volume(volumeName(config.volumePrefix, 'base-plugins', owner)),
    secretIn: (user, text) => secrets.containing(user, text),
  });
}

interface DataParts extends ReturnType<typeof openSecrets> {
  readonly volumes: Volumes;
  readonly networks: Networks;
  readonly watch: BaseWatch;
  readonly agentServers: AgentServers;
  readonly nouns: Nouns['data'];
}

function openData(resources: Resources, { volumes, supply, ...parts }: DataParts) {
  const { home, config, store, threads, locks, report, now } = resources;
  return sandboxData({
    ...{ ...parts, home, store, threads, locks, report },
    log: config.log,
    useVolumes: (sandbox) => useVolumes(volumes, sandbox, config.volumePrefix, now()),
    provideTrust: (sandbox) => supply.provideTrust(sandbox),
    unappliedIn: (sandbox) => unappliedIn({ home, threads }, sandbox),
    forgetApplies: (going) => forgetApplies({ store, home, now }, going),
  });
}

function openUsers({ store, owner, config, rootless, now }: Resources, banks: Nouns['parts']['liveBanks']): Users {
  return new Users({
    ...{ store, owner, sharedSocket: config.sharedSocket, rootless, now },
    release: (user) => banks.release(user),
  });
}

function openUserImages({ home, config, store, threads, owner, now }: Resources) {
  const detect: Detect = (project, base) => threads.run({ user: owner }, 'detectAt', project, base);
  return openImages(home, config, store, detect, now);
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
    agentOf: (user) => agentIdOf(resources, user),
    copyFolder,
    atRest: (name, act) => (name === chromaVolume(resources) ? chroma().whileAtRest(act) : act()),
  });
}
