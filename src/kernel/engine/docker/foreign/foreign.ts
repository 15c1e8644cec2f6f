/** Containers of a Docker Engine that Carrel did not make: only observed, by an id that the user passes. */
import { existsSync } from 'node:fs';
import type { ContainerInspectInfo } from 'dockerode';
import type { ObservedContainer } from '../../../../model/foreign-container.ts';
import { exitFrom } from '../../exit.ts';
import { Connection } from '../connection/connection.ts';
import { findSocket } from '../connection/socket.ts';

/** Long enough for a busy engine, short enough for a waiting user. */
const answerMs = 5000;

/** Null: the container was only created, or the engine does not answer. Without an engine the container is absent. */
export async function observeForeign(id: string, socketPath: string | null): Promise<ObservedContainer | null> {
  try {
    const path = socketPath ?? findSocket(process.env);
    if (!existsSync(path)) return { kind: 'absent' };
    const connection = new Connection(path);
    return foreignState(await connection.find((docker) => docker.getContainer(id).inspect(), answerMs));
  } catch {
    return null;
  }
}

/** Follows the table of swarm states: a container that is paused or being removed counts as stopped. */
export function foreignState(found: Pick<ContainerInspectInfo, 'State'> | null): ObservedContainer | null {
  if (found === null) return { kind: 'absent' };
  const { Status: status, ExitCode: code, OOMKilled: outOfMemory, Paused: isPaused } = found.State;
  if (isPaused || status === 'paused' || status === 'removing') return { kind: 'paused' };
  if (status === 'running' || status === 'restarting') return { kind: 'running' };
  if (status !== 'exited' && status !== 'dead' && status !== 'stopped') return null;
  return { kind: 'exited', ...exitFrom(code, outOfMemory && code !== 0) };
}
