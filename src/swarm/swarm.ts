/**
 * The state of swarms. It is in the store, one row for a swarm and one for each container, so that a change touches one row
 * however many there are, and lands with its event. The JSON file of the seed is a view of it.
 *
 * A project has at most one swarm of a user. `init` makes a new one and refuses while anything is pending or running, unless
 * forced; `add` refuses a name that is known; transitions are enforced; `cleanup` drops what has ended. What Carrel itself
 * looks after is changed by it alone, and a script that tries to is refused.
 */
import type { Swarm, SwarmContainer } from '../model/swarm.ts';

export interface SwarmEvent {
  readonly at: string;
  readonly type: string;
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Where the state is kept. A write and its event land together. */
export interface SwarmRecords {
  swarm(user: string, project: string): Swarm | null;
  swarms(): readonly { readonly user: string; readonly swarm: Swarm }[];
  putSwarm(user: string, swarm: Swarm, event: SwarmEvent): void;
  /** With all its containers. */
  removeSwarm(user: string, swarm: Swarm, event: SwarmEvent): void;
  container(swarmId: string, name: string): SwarmContainer | null;
  /** In the order they were added. */
  containers(swarmId: string): readonly SwarmContainer[];
  /** Of containers, without reading them. */
  count(swarmId: string): number;
  /** `lazy`: it can be observed again. */
  put(container: SwarmContainer, event: SwarmEvent, lazy?: boolean): void;
  remove(container: SwarmContainer, event: SwarmEvent): void;
}
