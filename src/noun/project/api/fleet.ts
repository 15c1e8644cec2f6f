/** What requests and answers about fleets look like. */
import { z } from 'zod';
import { watchRequest } from '../../room/api.ts';
import { sandboxRequest, sandboxState } from '../../sandbox/api.ts';

/** More than the content of a file of 64 KiB. */
const maxContent = 512 * 1024;

/** The content of a carrel.yaml, and its path: relative paths in it start at its folder. */
export const fleetRequest = z.strictObject({
  file: z.string().startsWith('/').max(4096),
  content: z.unknown().refine((value) => JSON.stringify(value ?? null).length <= maxContent, 'too large for a fleet'),
});

export const trustRequest = fleetRequest.extend({ dryRun: z.boolean().optional() });

export const trustRevocation = fleetRequest.pick({ file: true });

export const trustView = z.strictObject({
  file: z.string(),
  /** What the file gives to sandboxes beyond their own. */
  grants: z.array(z.string()),
  /** The grants that were not trusted before. */
  added: z.array(z.string()),
});

/** What would be lost with a sandbox; null: nothing. */
const unapplied = z.enum(['changes', 'commits']).nullable();

const name = z.string();
const id = z.string();

export const fleetStep = z.discriminatedUnion('act', [
  z.strictObject({ act: z.literal('init-volumes'), volumes: z.array(z.string()) }),
  z.strictObject({ act: z.literal('init-rooms'), rooms: z.array(z.string()) }),
  z.strictObject({ act: z.literal('watch'), room: z.string(), name, request: watchRequest }),
  z.strictObject({ act: z.literal('unwatch'), room: z.string(), name }),
  z.strictObject({ act: z.literal('create'), name, request: sandboxRequest }),
  z.strictObject({
    act: z.literal('replace'),
    name,
    id,
    state: sandboxState,
    differences: z.array(
      z.strictObject({ field: z.string(), before: z.string().nullable(), after: z.string().nullable() }),
    ),
    request: sandboxRequest,
    unapplied,
  }),
  z.strictObject({ act: z.literal('network'), name, allow: z.array(z.string()), deny: z.array(z.string()) }),
  z.strictObject({ act: z.literal('start'), name, state: sandboxState }),
  z.strictObject({ act: z.literal('remove'), name, id, state: sandboxState, unapplied }),
]);

export const fleetPlan = z.strictObject({
  fleet: z.string(),
  steps: z.array(fleetStep),
  /** The grants of the file that are not trusted yet. */
  untrusted: z.array(z.string()),
  /** Sandboxes that are as declared. */
  same: z.array(z.string()),
  /** Those of `same` whose command has completed. */
  completed: z.array(z.string()),
});

export const composedFleet = z.strictObject({ fleet: z.string(), text: z.string() });

export type ComposedFleet = z.output<typeof composedFleet>;
export type TrustView = z.output<typeof trustView>;
export type FleetPlan = z.output<typeof fleetPlan>;
export type FleetStep = z.output<typeof fleetStep>;
