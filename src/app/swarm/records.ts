/** The state of swarms in the store. */
import type { SwarmContainer } from '../../model/swarm.ts';
import type { Store } from '../../store/store.ts';
import type { SwarmRecords } from '../../swarm/swarm.ts';

export function swarmRecords(store: Store): SwarmRecords {
  return {
    swarm: (user, project) => store.find('swarm', user, project)?.value ?? null,
    swarms: () => store.list('swarm').map(({ owner, value }) => ({ user: owner, swarm: value })),
    putSwarm: (user, swarm, event) => {
      const row = store.get('swarm', swarm.swarmId);
      if (row) store.update(row, swarm, event);
      else store.insert({ kind: 'swarm', id: swarm.swarmId, owner: user, name: swarm.project, value: swarm }, event);
    },
    removeSwarm: (_, { swarmId }, event) => {
      const row = store.get('swarm', swarmId);
      if (row) store.remove(row, event);
      for (const container of store.list('container', swarmId)) store.remove(container, event);
    },
    container: (swarmId, name) => store.find('container', swarmId, name)?.value ?? null,
    containers: (swarmId) => store.list('container', swarmId).map(({ value }) => value),
    count: (swarmId) => store.count('container', swarmId),
    put: (container, event, lazy = false) => {
      const { swarmId, containerName: name } = container;
      const row = store.find('container', swarmId, name);
      if (row) store.update(row, container, event, { lazy });
      else store.insert({ kind: 'container', id: idOf(container), owner: swarmId, name, value: container }, event);
    },
    remove: ({ swarmId, containerName }, event) => {
      const row = store.find('container', swarmId, containerName);
      if (row) store.remove(row, event);
    },
  };
}

function idOf({ swarmId, containerName }: SwarmContainer): string {
  return `${swarmId}/${containerName}`;
}

/** Those of a swarm that is no more: a crash came between. */
export function forgetStrays(store: Store, at: string): void {
  for (const row of store.list('container')) {
    if (store.get('swarm', row.owner) !== null) continue;
    store.remove(row, { at, type: 'swarm.dropped', subject: row.owner, data: { name: row.name } });
  }
}
