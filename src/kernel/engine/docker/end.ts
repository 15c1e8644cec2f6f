/** Ends a sandbox, and removes everything it left in the Docker Engine and in the engine's folder. */
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ContainerInspectInfo } from 'dockerode';
import { crashPoint } from '../../../lib/flow/crash-point.ts';
import { withTimeout } from '../../../lib/flow/with-timeout.ts';
import { Fault } from '../../../model/fault.ts';
import { initReady } from '../init-ready.ts';
import type { LogWriterEnd } from '../local/log/log-file.ts';
import { type Connection, hasActiveMounts, statusOf } from './connection/connection.ts';
import type { DockerContext } from './context.ts';
import { visibleProcess } from './host-process.ts';
import { idIn, installationFilter, volumeNames } from './naming.ts';

const killWaitMs = 30_000;
const busyMs = 30_000;

export async function stopContainer(context: DockerContext, container: string, graceMs: number): Promise<void> {
  const ended = exitOf(context, container).then(() => true);
  // Without a handler the promise would be an unhandled rejection if the engine goes away before it is awaited.
  ended.catch(() => {});
  if (graceMs > 0) {
    await containerReady(context, container);
    await signalContainer(context, container, 'SIGTERM');
    if (await withTimeout(graceMs, ended, () => false)) return;
  }
  await signalContainer(context, container, 'SIGKILL');
  if (await withTimeout(killWaitMs, ended, () => false)) return;
  throw new Fault('timeout', 'the sandbox did not end on SIGKILL', {
    hint: 'A process may hang in the kernel; try again.',
  });
}

async function containerReady({ connection }: DockerContext, container: string): Promise<void> {
  const found = await connection.find((docker) => docker.getContainer(container).inspect());
  const init = found && visibleProcess(found);
  if (init) await initReady(init);
}

/** Reports the end of a sandbox to readers of its log. `isOver` rejects when the engine goes away. */
export function watchEnd(context: DockerContext, container: string): LogWriterEnd {
  let over: Promise<boolean> = Promise.resolve(false);
  const waiting = new AbortController();
  const change = exitOf(context, container, waiting.signal).then(
    () => {
      over = Promise.resolve(true);
    },
    (error: unknown) => {
      over = Promise.reject(error);
      over.catch(() => {});
    },
  );
  return { isOver: () => over, change, close: () => waiting.abort() };
}

/**
 * Waits until a container that is being removed is gone. Until then it looks like a killed one, although its command
 * was not killed. If the removal hangs, it is reported as killed.
 */
export async function afterRemoval(
  connection: Connection,
  found: ContainerInspectInfo | null,
): Promise<ContainerInspectInfo | null> {
  if (found?.State.Status !== 'removing') return found;
  const removed = connection
    .wait((docker) => docker.getContainer(found.Id).wait({ condition: 'removed' }))
    .then(
      () => null,
      (error) => (statusOf(error) === 404 ? null : found),
    );
  return withTimeout<ContainerInspectInfo | null>(busyMs, removed, () => found);
}

/** Settles when the container has ended or does not exist. */
async function exitOf({ connection }: DockerContext, container: string, abortSignal?: AbortSignal): Promise<void> {
  try {
    await connection.wait((docker) =>
      docker.getContainer(container).wait((abortSignal ? { abortSignal } : {}) as object),
    );
  } catch (error) {
    if (statusOf(error) !== 404) throw error;
  }
}

/** Does nothing if the container has ended meanwhile. */
async function signalContainer(
  { connection }: DockerContext,
  container: string,
  signal: NodeJS.Signals,
): Promise<void> {
  try {
    await connection.find((docker) => docker.getContainer(container).kill({ signal }));
  } catch (error) {
    const gone =
      statusOf(error) === 409 ||
      /is not running|can only kill running|state improper: (stopp|exit|remov)/.test((error as Error).message);
    if (!gone) throw error;
  }
}

export async function removeEverything(context: DockerContext, id: string): Promise<void> {
  const container = await context.containers.idOf(id);
  await retryWhileBusy(() => removeContainer(context, container));
  context.containers.forget(id);
  crashPoint('remove:container');
  for (const name of await ownVolumes(context, id)) await retryWhileBusy(() => removeVolume(context, name));
  for (const name of await idleVolumes(context)) await removeVolume(context, name).catch(refuseUnlessTaken);
  context.stage.hide(id);
  rmSync(context.run(id), { recursive: true, force: true });
}

async function removeContainer({ connection }: DockerContext, name: string): Promise<void> {
  await connection.find((docker) => docker.getContainer(name).remove({ force: true, v: true }));
}

/**
 * An engine that restarted while its containers ran may regard a volume as mounted for ever. Such a volume is left to a
 * later call, after the engine has released it.
 */
async function removeVolume({ connection }: DockerContext, name: string): Promise<void> {
  try {
    await connection.find((docker) => docker.getVolume(name).remove());
  } catch (error) {
    if (!hasActiveMounts(error)) throw error;
  }
}

/** Searches by name: if the engine dies while it creates a volume, the volume has no labels. */
async function ownVolumes(context: DockerContext, id: string): Promise<string[]> {
  const own = await listVolumes(context, { name: [volumeNames(context.installation, id)] });
  return own.map(({ Name }) => Name);
}

/**
 * Volumes that no container uses any more: names of users' volumes, and volumes that could not be removed with their
 * sandboxes.
 */
async function idleVolumes(context: DockerContext): Promise<string[]> {
  const idle = await listVolumes(context, { ...installationFilter(context.installation), dangling: ['true'] });
  const isLeft = (sandbox: string | null) => sandbox === null || !context.isBegun(sandbox);
  return idle.filter(({ Labels }) => isLeft(idIn(Labels))).map(({ Name }) => Name);
}

async function listVolumes({ connection }: DockerContext, filters: object) {
  const options = { filters: JSON.stringify(filters) } as object;
  return (await connection.ask((docker) => docker.listVolumes(options))).Volumes ?? [];
}

/** Throws the error, unless it says that another sandbox uses the volume again. */
function refuseUnlessTaken(error: unknown): void {
  if (!isBusy(error)) throw error;
}

/** Retries while another request removes the same thing or a mount is still busy. */
async function retryWhileBusy(attempt: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + busyMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isBusy(error) || Date.now() > deadline) throw error;
      await sleep(50);
    }
  }
}

function isBusy(error: unknown): boolean {
  return statusOf(error) === 409 || /in use|device or resource busy/i.test((error as Error).message);
}
