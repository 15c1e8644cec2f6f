/** A kind of grant is declared once: all code that is the same for all kinds uses the table. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { z } from 'zod';
import { distinctBy, type GrantKind } from '../src/model/grant.ts';
import { defaultLimits } from '../src/model/limits.ts';
import type { SandboxRequest } from '../src/noun/sandbox/api.ts';
import { initialStatus, type SandboxSpec } from '../src/noun/sandbox/model.ts';
import { samplePlaces } from './fixtures/places.ts';
import { sampleSpec } from './fixtures/sandbox.ts';

interface Clock {
  readonly clock: string;
  readonly readonly: boolean;
}

const textOf = ({ clock, readonly }: Clock) => (readonly ? `${clock}:ro` : clock);
const clocks: GrantKind<Clock, Clock, 'clocks', 'clock'> = {
  request: { clock: { pattern: /^[a-z]+$/ }, readonly: 'boolean' },
  most: 2,
  option: { flags: '--wall-clock <NAME>', summary: 'let it set a clock', isForAgents: true },
  declared: {
    ...{ key: 'clocks', word: 'clock', maxText: 20, description: 'Clocks.', example: ['kitchen'] },
    texts: (requests) => requests.map(textOf).sort(),
  },
  parse: (text) => ({ clock: text.replace(':ro', ''), readonly: text.endsWith(':ro') }),
  distinct: (requests) => distinctBy(requests, ({ clock }) => clock),
  nameOf: ({ clock }) => clock,
  view: { clock: 'text' },
  metadata: textOf,
  mounts: ({ clock, readonly }, { emptyFolder, sandboxName }) => [
    { kind: 'bind', source: `/clocks/${clock}-${sandboxName}`, target: `/clocks/${clock}`, readonly },
    { kind: 'bind', source: emptyFolder, target: `/clocks/${clock}/hands`, readonly: true },
  ],
  env: { CLOCKS: '/clocks' },
  server: { name: 'clocks', program: 'carrel-clock', args: ['mcp'] },
};
const kitchen = { clock: 'kitchen', readonly: true };

/** Loads the modules with one more entry in the tables; other tests load modules of their own. */
async function withClocks() {
  vi.resetModules();
  const table = await import('../src/noun/grant-table.ts');
  const { declared, ...kind } = clocks;
  (table.grantTable as unknown[]).push(['clocks', clocks]);
  (table.declarable as unknown[]).push({ field: 'clocks', ...kind, ...declared });
  return {
    ...table,
    ...(await import('../src/noun/grant-api.ts')),
    ...(await import('../src/noun/sandbox/api.ts')),
    ...(await import('../src/noun/sandbox/app/spec.ts')),
    ...(await import('../src/noun/sandbox/cli/grant-options.ts')),
    ...(await import('../src/noun/sandbox/cli/request.ts')),
    ...(await import('../src/noun/project/fleet/declare.ts')),
    ...(await import('../src/noun/project/fleet/grants.ts')),
    ...(await import('../src/noun/project/fleet/plan.ts')),
    ...(await import('../src/noun/sandbox/launch/grants.ts')),
    ...(await import('../src/noun/agent/model/mcp.ts')),
  };
}

describe('another kind of grant in the table', () => {
  let code: Awaited<ReturnType<typeof withClocks>>;
  beforeAll(async () => {
    code = await withClocks();
  });
  afterAll(() => void vi.resetModules());

  it('is an option of all commands that create sandboxes, and part of their requests', () => {
    const option = {
      ...{ flags: '--wall-clock <NAME>', field: 'clocks', repeat: true },
      summary: 'let it set a clock',
    };
    expect(code.grantOptions).toContainEqual(option);
    expect(code.agentGrantOptions).toContainEqual(option);
    const asked = code.grantsFrom({ wallClock: ['kitchen:ro', 'tower', 'tower:ro'] });
    expect(asked).toEqual({ clocks: [kitchen, { clock: 'tower', readonly: false }] });
  });

  it('has schemas for requests and views, which refuse what it does not declare', () => {
    const { clocks: request } = code.grantRequests as unknown as Record<string, z.ZodType>;
    const { clocks: view } = code.grantViews as unknown as Record<string, z.ZodType>;
    expect(request?.parse([kitchen])).toEqual([kitchen]);
    expect(request?.parse(undefined)).toBeUndefined();
    for (const wrong of [
      [{ clock: 'x' }],
      [{ ...kitchen, clock: 'X' }],
      [{ ...kitchen, x: 1 }],
      [kitchen, kitchen, kitchen],
    ])
      expect(request?.safeParse(wrong).success).toBe(false);
    expect(view?.parse([{ clock: 'kitchen' }])).toEqual([{ clock: 'kitchen' }]);
    expect(view?.safeParse([kitchen]).success).toBe(false);
  });

  it('is a key of carrel.yaml: validated, trusted, requested, and a change replaces the sandbox', () => {
    const content = (...names: string[]) => ({ name: 'f', sandboxes: { a: { clocks: names } as object } });
    expect(code.grantsOf(content('kitchen:ro'), { folder: '/', outsideTarget: () => null })).toEqual([
      'a: clock kitchen:ro',
    ]);
    const nothing = { sandboxes: [], volumes: [], rooms: [], watches: [], secrets: [] };
    const [step] = code.plan(code.declare(content('kitchen:ro'), '/'), nothing).steps;
    if (step?.act !== 'create') throw new Error('it is not created');
    expect(step.request).toMatchObject({ clocks: [kitchen] });
    const { labels } = step.request;
    const existing = { ...nothing, sandboxes: [{ id: '1', name: 'a', state: 'running', labels, allow: [] } as const] };
    expect(code.plan(code.declare(content('kitchen:ro'), '/'), existing).steps).toEqual([]);
    const [changed] = code.plan(code.declare(content('tower'), '/'), existing).steps;
    const difference = { field: 'clocks', before: '["kitchen:ro"]', after: '["tower"]' };
    expect(changed).toMatchObject({ act: 'replace', differences: [difference] });
    expect(() => code.declare(content('a', 'b', 'c'), '/')).toThrow(/sandboxes\.a\.clocks/);
  });

  it('is in the audit log, the spec, the view, the metadata and the MCP servers', () => {
    const request = { clocks: [kitchen] } as SandboxRequest;
    expect(code.auditedFields(request)).toMatchObject({ clocks: ['kitchen'] });
    const none = () => [];
    const granted = code.grantTable.map(([field]) => [field, none]);
    const granting = { ...Object.fromEntries(granted), clocks: () => [kitchen] };
    const config = { runtime: null, limits: defaultLimits, services: [], dockerSocket: null };
    const parts = { config, granting, networkRules: none, credentialGrants: none, ports: [], image: null };
    const spec = code.composeSpec(request, parts as never) as SandboxSpec;
    expect(spec).toMatchObject({ clocks: [kitchen] });
    expect(code.viewsOf(spec)).toMatchObject({ clocks: [{ clock: 'kitchen' }] });
    expect(code.metadataOf(spec)).toMatchObject({ clocks: ['kitchen:ro'] });
    const server = { command: '/opt/carrel/bin/carrel-clock', args: ['mcp'], env: {} };
    expect(code.ownServers(spec)).toEqual([{ name: 'clocks', from: 'carrel', server }]);
  });

  it('is mounted, with its variables, and the empty folder is made', () => {
    const folder = mkdtempSync(join(tmpdir(), 'carrel-grant-'));
    const places = { ...samplePlaces(folder), sandbox: () => folder };
    const box = { id: '1', name: 'box', createdAt: '', spec: sampleSpec, status: initialStatus };
    const sandbox = { ...box, spec: { ...box.spec, clocks: [kitchen] } };
    try {
      code.grants.prepare?.(sandbox, places, () => {});
      const empty = join(folder, 'empty');
      expect(existsSync(empty)).toBe(true);
      expect(code.grants.additions?.(sandbox, places)).toEqual({
        mounts: [
          { kind: 'bind', source: '/clocks/kitchen-box', target: '/clocks/kitchen', readonly: true },
          { kind: 'bind', source: empty, target: '/clocks/kitchen/hands', readonly: true },
        ],
        env: { CLOCKS: '/clocks' },
      });
      expect(code.grants.additions?.(box, places)).toEqual({ mounts: [], env: {} });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
