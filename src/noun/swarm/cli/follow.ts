/**
 * Follows a swarm until no awaited container is pending or running: shows a table in place, or a line for each change.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../../../client/client.ts';
import type { Output } from '../../../client/output/output.ts';
import { isFault } from '../../../model/fault.ts';
import type { SwarmContainerView, SwarmView } from '../api.ts';
import { isActive } from '../model/swarm.ts';
import { fittingTable, swarmChanges, swarmNotes } from './view.ts';

/** The shortest time between two requests, however many events arrive. */
const betweenMs = 100;
const awayMs = 500;

/** How often containers of scripts are polled, because they cause no events. */
const lookMs = 2000;

/** Waits for the containers in `names`; undefined: for all. */
export async function followSwarm(
  client: Client,
  out: Output,
  project: string,
  names?: readonly string[],
): Promise<SwarmView> {
  const show = () => client.call('GET /v1/swarm/show', { query: { project } });
  const { lastSeq } = await client.call('GET /v1/status');
  let seq = lastSeq;
  let view = await show();
  const draw = painter(out);
  draw(view);
  const isWaitedFor = (one: SwarmContainerView) => isActive(one) && (names?.includes(one.containerName) ?? true);
  while (view.containers.some(isWaitedFor)) {
    const ofScript = view.containers.some((one) => one.agent === null && isActive(one));
    seq = await nextChange(client, seq, view.swarmId, ofScript ? lookMs : null);
    await pause(betweenMs);
    view = await show();
    draw(view);
  }
  if (out.columns !== null) out.print(...swarmNotes(view, out));
  return view;
}

/** The number of the next event about the swarm; `after` if none arrived in time, or if the daemon went away. */
async function nextChange(client: Client, after: number, swarmId: string, withinMs: number | null): Promise<number> {
  const abort = new AbortController();
  const late = withinMs === null ? undefined : setTimeout(() => abort.abort(), withinMs);
  try {
    for await (const event of client.follow(after, abort.signal)) if (event.subject === swarmId) return event.seq;
  } catch (error) {
    const isExpected = abort.signal.aborted || isFault(error, 'unavailable') || isFault(error, 'cancelled');
    if (!isExpected) throw error;
  } finally {
    clearTimeout(late);
    if (!abort.signal.aborted) abort.abort();
  }
  if (withinMs === null) await pause(awayMs);
  return after;
}

function painter(out: Output): (view: SwarmView) => void {
  if (out.columns !== null) return (view) => out.redraw(fittingTable(view, out));
  let before: SwarmView | null = null;
  return (view) => {
    out.print(...swarmChanges(before, view));
    before = view;
  };
}
