/**
 * Creates a container from a Launch, without starting it. Returns its id. Its root filesystem is an image, or one made of
 * the host's programs (`root.ts`); its settings are pure (`spec.ts`), and Podman takes them in words of its own (`podman.ts`).
 */

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import { runtimeNames } from '../../../../model/engine.ts';
import { Fault } from '../../../../model/fault.ts';
import { type Limits, optionsOf } from '../../../../model/limits.ts';
import type { Launch } from '../../engine.ts';
import { logName } from '../../local/log/log-file.ts';
import { isOuter, outerMounts, refuseNested } from '../../local/stage/nested.ts';
import { statusOf } from '../connection/connection.ts';
import type { EngineFacts } from '../connection/facts.ts';
import type { DockerContext } from '../context.ts';
import { identityFor, ownIdentity } from '../mounts/identity.ts';
import { ownedFolders, prepareMounts } from '../mounts/mounts.ts';
import { nameVolumes } from '../mounts/named-volume.ts';
import { plainSources } from '../mounts/source.ts';
import type { View } from '../mounts/view.ts';
import { containerName, labels, version, volumeName } from '../naming.ts';
import { advisoryLabel } from '../observe.ts';
import { createWithPodman, needsRoot, type PodmanInput } from './podman.ts';
import { forgetHostImage, hostImageName, rootOf } from './root.ts';
import { containerSpec } from './spec.ts';
import { refuseOwnersFolders, sysbox, sysboxShift } from './sysbox.ts';

export async function create(context: DockerContext, launch: Launch): Promise<string> {
  const facts = await context.facts();
  const isPodman = facts.product === 'Podman';
  requireSeccomp(facts);
  const runtime = chooseRuntime(launch.runtime, facts);
  const shows = context.stage.isPossible;
  const advisory = advisoryLimits(facts, launch, shows);
  const { connection, maps, installation } = context;
  const root = await rootOf(launch.root, connection, context.folder);
  const own = { [labels.installation]: installation, [labels.id]: launch.id, [labels.version]: version };
  const all = [...root.mounts, ...launch.mounts];
  const who = { slot: launch.slot, facts: shiftedFacts(runtime, facts, launch), self: context.self };
  const start = randomBytes(4).toString('hex');
  if (isPodman && !shows) throw needsRoot();
  if (!shows) refuseNested(all);
  const outer = outerMounts(all);
  const isMountedByDaemon = (index: number) => isPodman || isOuter(outer, index);
  const view = shows ? same : await context.view(root.image);
  const identity = shows ? ownIdentity(who) : identityFor(ownedFolders(launch.mounts, maps), who);
  const agent = identity.outside;
  const mounts = prepareMounts(all, identity, {
    sources: shows
      ? await context.stage.show(launch.id, all, agent, isMountedByDaemon)
      : plainSources(all, agent, maps, view),
    nested: shows,
    isMountedByDaemon,
    named: isPodman ? new Map() : await nameVolumes(all, { connection, installation, agent, view }),
    sealed: shows && runtime === sysbox,
    folder: context.run(launch.id),
    maps,
    view,
    userMarks: context.rootless,
    // The request for Podman ignores the volumes of an image.
    imageVolumes: isPodman ? [] : root.volumes,
    volumeName: (index) => volumeName(installation, launch.id, index, start),
    labels: own,
  });
  crashPoint('start:staged');
  const spec = containerSpec({
    ...mounts,
    name: containerName(launch.hostname, launch.id),
    launch,
    image: root.image,
    runtime,
    identity,
    facts,
    filter: context.filter,
    log: context.log,
    labels: {
      ...own,
      [labels.name]: launch.hostname,
      [labels.advisory]: advisoryLabel(advisory),
      [labels.runtime]: runtime,
    },
  });
  try {
    if (isPodman) return await createWithPodman(connection, spec, podmanFiles(context, launch.id));
    return (await connection.ask((docker) => docker.createContainer(spec))).id;
  } catch (error) {
    forgetHostImage(connection);
    throw isAbsent(error) ? missingImage(root.image, error) : error;
  }
}

function shiftedFacts(runtime: string, facts: EngineFacts, { mounts }: Launch): EngineFacts {
  if (runtime !== sysbox) return facts;
  refuseOwnersFolders(mounts);
  return { ...facts, shift: sysboxShift(facts) };
}

function podmanFiles(context: DockerContext, id: string): PodmanInput {
  return { filterPath: context.filterFile(), logPath: join(context.run(id), logName), log: context.log };
}

/** An engine on the same machine uses the same paths. */
const same: View = (path) => path;

/** Podman reports a missing image as a server error. */
function isAbsent(error: unknown): boolean {
  return statusOf(error) === 404 || /image not known/.test((error as Error).message);
}

function missingImage(image: string, cause: unknown): Fault {
  return new Fault('not_found', `the Docker Engine has no image ${image}`, {
    cause,
    hint: image.startsWith(hostImageName) ? 'Try again.' : `Fetch it first: docker pull ${image}`,
  });
}

function requireSeccomp({ seccomp }: EngineFacts): void {
  if (seccomp) return;
  throw new Fault('unsupported', 'this Docker Engine filters no system calls', {
    hint: 'Let dockerd use its default seccomp profile, or use the embedded engine: --engine local.',
  });
}

function chooseRuntime(requested: string | null, facts: EngineFacts): string {
  if (requested === null) return facts.defaultRuntime;
  if (runtimeNames.some((name) => name === requested) && facts.runtimes.includes(requested)) return requested;
  const known = runtimeNames.filter((name) => facts.runtimes.includes(name));
  const others =
    facts.product === 'Podman' ? '/etc/containers/containers.conf chooses one' : '/etc/docker/daemon.json names others';
  throw new Fault('unsupported', `this ${facts.product} has no runtime ${requested}`, {
    hint: `It has ${known.join(', ')}; ${others}.`,
  });
}

/**
 * The limits that are not enforced. Throws when one of them is demanded, or is enforced by a disk image that this
 * engine does not see.
 */
function advisoryLimits(
  { enforced }: EngineFacts,
  { limits, held, demanded }: Launch,
  shows: boolean,
): (keyof Limits)[] {
  const all = Object.keys(limits) as (keyof Limits)[];
  const advisory = all.filter((key) => !enforced.includes(key) && !(shows && held.includes(key)));
  const refused = advisory.filter((key) => demanded.includes(key) || held.includes(key));
  if (refused.length === 0) return advisory;
  throw new Fault('unsupported', `this Docker Engine cannot enforce ${optionsOf(refused)}`, {
    hint: 'Leave out --strict or these limits, or use the embedded engine: --engine local.',
  });
}
