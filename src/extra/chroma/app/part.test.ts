import { expect, test, vi } from 'vitest';
import { sampleSpec } from '../../../../test/fixtures/sandbox.ts';
import { memoryServices, requiresMemory } from '../../../noun/memory/app/services.ts';
import type { ChromaSettings } from '../../../noun/memory/memory.ts';
import type { MemoryGrant } from '../../../noun/memory/model/memory.ts';
import { initialStatus, type Sandbox } from '../../../noun/sandbox/model.ts';
import { type ChromaPartParts, chromaPart, type PlaceParts, placeOf, releasePlace, tenantOf } from './part.ts';

const local: ChromaSettings = { kind: 'local' };
const remote: ChromaSettings = { kind: 'remote', url: 'https://chroma.example.org', credential: null };
const parts = (chroma: ChromaSettings): PlaceParts => ({
  config: { memory: { chroma } },
  home: { installation: 'i1' },
});
const box = (...scopes: readonly MemoryGrant['scope'][]): Sandbox => ({
  ...{ id: 'b1', name: 'box', createdAt: '', status: initialStatus },
  spec: { ...sampleSpec, memoryScopes: scopes.map((scope) => ({ scope, readonly: false })) },
});

test('only at a remote server the tenant of a user has the id of the installation', () => {
  expect([tenantOf(parts(local), 'ann'), tenantOf(parts(remote), 'ann')]).toEqual(['carrel-ann', 'carrel-ann-i1']);
  expect(placeOf(parts(remote), box('user'))?.tenant).toBe('carrel-ann-i1');
  expect(placeOf(parts(remote), box())).toBeNull();
});

test('a removed sandbox takes only the database along that no other sandbox uses', async () => {
  const release = vi.fn(async () => {});
  for (const kept of [box(), box('user'), box('project')]) await releasePlace(parts(local), { release }, kept);
  expect(release).not.toHaveBeenCalled();
  await releasePlace(parts(local), { release }, box('sandbox'));
  expect(release).toHaveBeenCalledWith('b1', { tenant: 'carrel-ann', database: 'sandbox-b1', readonly: false });
});

const partWith = (chroma: ChromaSettings | null) =>
  chromaPart({
    config: { memory: { ...parts(local).config.memory, chroma } } as ChromaPartParts['config'],
    home: { installation: 'i1', home: '/home' },
    chroma: { release: async () => {} },
    report: () => {},
  });

test('a sandbox without a scope of the memory reaches neither the memory nor Chroma', () => {
  const portsOf = (sandbox: Sandbox, chroma: ChromaSettings | null) =>
    [...memoryServices('/home', sandbox), ...partWith(chroma).services!(sandbox)].map(({ name }) => name);
  expect(portsOf(box(), local)).toEqual([]);
  expect(portsOf(box('user'), null)).toEqual(['memory']);
  expect(portsOf(box('user'), local)).toEqual(['memory', 'chroma']);
  expect([requiresMemory(box().spec), requiresMemory(box('user').spec)]).toEqual([false, true]);
});
