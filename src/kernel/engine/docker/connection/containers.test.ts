import { expect, it } from 'vitest';
import { containerName } from '../naming.ts';
import type { Connection } from './connection.ts';
import { Containers } from './containers.ts';

/** A fake engine with these containers: by id, each with the id of its sandbox. */
function engineOf(containers: Map<string, string>) {
  const searches: string[] = [];
  const docker = {
    listContainers: async ({ filters }: { filters: string }) => {
      const { label } = JSON.parse(filters) as { label: string[] };
      searches.push(label.join(' '));
      return [...containers].filter(([, id]) => label.includes(`carrel.id=${id}`)).map(([Id]) => ({ Id }));
    },
    getContainer: (Id: string) => ({ inspect: async () => (containers.has(Id) ? { Id } : null) }),
  };
  const ask = (question: (engine: typeof docker) => Promise<unknown>) => question(docker);
  return { searches, connection: { ask, find: ask } as unknown as Connection };
}

it('a container is found by its labels with one search', async () => {
  const { searches, connection } = engineOf(new Map([['c1', 'a']]));
  const containers = new Containers(connection, 'here');
  expect(await containers.find('a')).toEqual({ Id: 'c1' });
  expect(await containers.idOf('a')).toBe('c1');
  expect(searches).toEqual(['carrel.installation=here carrel.id=a']);
});

it('a container is searched again when the known one is gone', async () => {
  const there = new Map([['c1', 'a']]);
  const containers = new Containers(engineOf(there).connection, 'here');
  await containers.find('a');
  there.delete('c1');
  there.set('c2', 'a');
  expect(await containers.find('a')).toEqual({ Id: 'c2' });
  there.delete('c2');
  expect(await containers.find('a')).toBeNull();
  expect(await containers.idOf('a')).toBe('carrel-none-a');
});

it('a container has a name made from its sandbox, unique per container', () => {
  expect(containerName('box', '0123456789abcdef')).toBe('carrel-box-0123456789abcdef');
});
