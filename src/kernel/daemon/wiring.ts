/**
 * Constructs the parts that all users share. A part that needs a later part gets a function, and calls it only when
 * used.
 */

import { join } from 'node:path';
import { chromaVolume } from '../../extra/chroma/app/wiring.ts';
import type { Chroma } from '../../extra/chroma/chroma.ts';
import { hubRoot } from '../../extra/compose/app/hub-root.ts';
import { packageVersion } from '../../lib/file/package.ts';
import { freeAt } from '../../lib/file/reserve.ts';
import { isFault } from '../../model/fault.ts';
import { AgentServers } from '../../noun/agent/app/mcp/agent-servers.ts';
import { mcpPart } from '../../noun/agent/app/mcp/part.ts';
import { HubTokens } from '../../noun/hub/app/hub-tokens.ts';
import { hubPlace } from '../../noun/hub/model/service.ts';
import { openImages } from '../../noun/image/app/user-images.ts';
import type { Detect } from '../../noun/image/source.ts';
import { DiskWatch } from '../../noun/installation/app/disk/disk-watch.ts';
import { measureRunning, stopForDisk } from '../../noun/installation/app/disk/measure.ts';
import { SpaceHints } from '../../noun/installation/app/disk/space-hints.ts';
import { CredentialSupply } from '../../noun/network/app/credential/supply.ts';
import { Networks } from '../../noun/network/app/networks.ts';
import { networkPart } from '../../noun/network/app/part.ts';
import { type DeclaredService, grantedOf } from '../../noun/network/model/service.ts';
import { ProxyProcess } from '../../noun/network/proxy-process.ts';
import { sandboxData } from '../../noun/sandbox/app/parts.ts';
import type { SandboxPart } from '../../noun/sandbox/part/part.ts';
import { Loop } from '../../noun/sandbox/reconcile/loop.ts';
import { createReconciler } from '../../noun/sandbox/reconcile/reconciler.ts';
import { secretPart } from '../../noun/user/app/secret/part.ts';
import { agentIdOf, Users } from '../../noun/user/app/users.ts';
import { MemorySecrets } from '../../noun/user/secret/sandbox-secrets.ts';
import { SecretFiles } from '../../noun/user/secret/secret-files.ts';
import { volumePart } from '../../noun/volume/app/part.ts';
import { mountedBy, volumeRecords } from '../../noun/volume/app/user-volumes.ts';
import { userHash, volumeName } from '../../noun/volume/model.ts';
import { Volumes } from '../../noun/volume/volumes.ts';
import { forgetApplies } from '../../noun/workspace/app/apply-journal.ts';
import { BaseWatch } from '../../noun/workspace/app/base-watch.ts';
import { diskPart, workspacePart } from '../../noun/workspace/app/part.ts';
import { unappliedIn } from '../../noun/workspace/app/unapplied.ts';
import { copyFolder } from '../../noun/workspace/snapshot/copy-folder.ts';
import { TokenKeys } from '../server/token-keys.ts';
import { type Nouns, openNouns } from './noun-wiring.ts';
import { hubSocket } from './port-wiring.ts';
import type { Resources } from './resources.ts';

export type Parts = ReturnType<typeof openParts>;

export function openParts(resources: Resources) {
  const { home, store, engines, engineOf, threads, locks, report, now } = resources;
  const watch = new BaseWatch({ store, home, threads, locks, report });
  const kept = openSecrets(resources);
  const volumes = openVolumes(resources, () => nouns.parts.chroma);
  const network = openNetwork(resources, kept.supply, () => nouns);
  const agentOf = (user: string) => agentIdOf(resources, user);
  const nouns: Nouns = openNouns(resources, { secrets: kept.secrets, volumes, agentOf });
  const agentServers = openAgentServers(resources, kept.secrets);
  const { networks } = network;
  const { parts, workspace } = openSandboxParts(resources, { ...kept, volumes, networks, watch, agentServers, nouns });
  const data = sandboxData({ home, log: resources.config.log, parts, report });
  const reconciler = createReconciler({ store, engineOf, places: home, data, now });
  const loop = new Loop({ store, engines, reconciler, report });
  const users = openUsers(resources, nouns.parts.liveBanks);
  return {
    ...{ watch, volumes, agentServers, workspace, reconciler, loop, users, nouns },
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

/** The proxy, and the networks of sandboxes, which configure it. */
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
      ...nouns().sandboxParts.flatMap((part) => part.services?.(sandbox) ?? []),
    ],
    requiresServices: (sandbox) =>
      (sandbox.spec.services?.length ?? 0) > 0 || nouns().sandboxParts.some((part) => part.requiresServices?.(sandbox)),
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

interface SandboxWiring extends ReturnType<typeof openSecrets> {
  readonly volumes: Volumes;
  readonly networks: Networks;
  readonly watch: BaseWatch;
  readonly agentServers: AgentServers;
  readonly nouns: Nouns;
}

/** The parts of sandboxes, in the order in which they prepare, conclude and release. */
function openSandboxParts(resources: Resources, opened: SandboxWiring) {
  const { home, config, store, threads, locks, now } = resources;
  const { secrets, sandboxSecrets, supply, volumes, networks, watch, agentServers, nouns } = opened;
  const workspace = workspacePart({
    ...{ home, store, threads, locks, watch },
    unappliedIn: (sandbox) => unappliedIn({ home, threads }, sandbox),
    forgetApplies: (going) => forgetApplies({ store, home, now }, going),
  });
  const parts: readonly SandboxPart[] = [
    networkPart(networks, supply),
    volumePart(volumes, () => config.volumePrefix, now),
    secretPart(secrets, sandboxSecrets),
    ...nouns.sandboxParts,
    diskPart({ home, locks }),
    mcpPart(agentServers),
    workspace,
  ];
  return { parts, workspace };
}

function openUsers({ store, owner, config, rootless, now }: Resources, banks: Nouns['parts']['liveBanks']): Users {
  return new Users({
    ...{ store, owner, sharedSocket: config.sharedSocket, rootless, now },
    release: (user) => banks.release(user),
  });
}

function openUserImages({ home, config, store, threads, owner, now }: Resources) {
  const detect: Detect = (project, base) => threads.run({ user: owner }, 'detectAt', project, base);
  return openImages(home, config, store, detect, hubRoot, now);
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
