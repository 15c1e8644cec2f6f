/** The daemon of one installation: health, status, end. */
import { z } from 'zod';
import { declare } from '../../../kernel/server/route.ts';
import type { Actor } from '../../../model/user.ts';
import { requireOwner } from '../../../model/user.ts';
import * as shape from '../api.ts';
import type { Installation } from '../installation.ts';
import { installationConfig } from './config.ts';
import { portRow } from './port-row.ts';

export interface InstallationScope {
  readonly installation: Installation;
  readonly sandboxes: { list(): Promise<readonly { readonly state: string }[]> };
}

const { noun, route } = declare<InstallationScope>();

export const installation = noun({
  config: installationConfig,
  routes: [
    route('GET /health', {
      id: 'health',
      summary: 'Whether the daemon answers',
      answer: shape.healthView,
      open: true,
      act: null,
      handle: async ({ scope: { installation } }) => ({
        status: 'ok' as const,
        version: installation.version,
        uptimeSeconds: uptimeSeconds(installation),
      }),
    }),
    route('GET /openapi.json', {
      id: 'openapi',
      summary: 'This document',
      answer: 'document',
      open: true,
      act: null,
      handle: async ({ scope }) => scope.installation.document(),
    }),
    route('GET /v1/status', {
      id: 'status',
      summary: 'The daemon, and how many sandboxes are in which state',
      answer: shape.statusView,
      act: null,
      handle: async ({ actor, scope: { installation, sandboxes } }) => ({
        version: installation.version,
        pid: process.pid,
        home: installation.home,
        uptimeSeconds: uptimeSeconds(installation),
        rootless: installation.rootless,
        sandboxes: countBy((await sandboxes.list()).map((view) => view.state)),
        lastSeq: installation.lastSeq(),
        mcp: installation.mcp(),
        settings: settingsFor(actor, installation),
      }),
    }),
    route('POST /v1/shutdown', {
      id: 'shutdown',
      summary: 'Stop the daemon; sandboxes keep running unless `all` is set',
      body: z.strictObject({ all: z.boolean().optional() }),
      answer: z.strictObject({ stopped: z.array(z.string()) }),
      act: ({ body }) => ({
        verb: 'daemon.end',
        names: [],
        detail: { all: body.all ?? false },
        frees: true,
      }),
      done: ({ stopped }) => ({ targets: stopped.map((name) => ({ name })) }),
      handle: async ({ actor, scope, body }) => {
        requireOwner(actor);
        return { stopped: await scope.installation.shutdown(body.all ?? false) };
      },
    }),
  ],
  examine: async ({ installation: { mcp, port } }) => [await portRow(mcp(), port)],
});

function uptimeSeconds({ startedAtMs }: Installation): number {
  return Math.round((Date.now() - startedAtMs) / 1000);
}

function settingsFor({ isOwner }: Actor, { settings }: Installation): shape.StatusView['settings'] {
  const refused = isOwner ? settings.refusal() : null;
  return { refused, waiting: isOwner ? [...settings.waiting] : [] };
}

function countBy(keys: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}
