/** Reads along until nothing of a swarm is pending or running: a table that changes in place, or a line a change. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '../api/client.ts';
import type { SwarmView } from '../api/routes.ts';
import { isFault } from '../model/fault.ts';
import { isActive } from '../model/swarm.ts';
import type { Output } from './output/output.ts';
import { fittingTable, swarmChanges, swarmNotes } from './swarm-view.ts';

/** Between two looks, however much happens. */
const betweenMs = 100;
const awayMs = 500;

export async function followSwarm(client: Client, out: Output, project: string): Promise<SwarmView> {
  const show = () => client.call('showSwarm', { query: { project } });
  const { lastSeq } = await client.call('status');
  let seq = lastSeq;
  let view = await show();
  const draw = painter(out);
  draw(view);
  while (view.containers.some(isActive)) {
    seq = await nextChange(client, seq, view.swarmId);
    await pause(betweenMs);
    view = await show();
    draw(view);
  }
  if (out.columns !== null) out.print(...swarmNotes(view));
  return view;
}

/** The number of the next event about the swarm; a daemon that went away is asked again. */
async function nextChange(client: Client, after: number, swarmId: string): Promise<number> {
  const abort = new AbortController();
  try {
    for await (const event of client.follow(after, abort.signal)) if (event.subject === swarmId) return event.seq;
  } catch (error) {
    if (!isFault(error, 'unavailable') && !isFault(error, 'cancelled')) throw error;
  } finally {
    abort.abort();
  }
  await pause(awayMs);
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
