/**
 * What one carrel.yaml declares, and which of its grants a user trusts. The daemon compares the file with the records and
 * answers with the steps of a plan; it changes nothing: the client takes the steps through the other routes
 * (`cli/fleet`). Each grant in the file needs the trust of the user once, as it is written; a changed one needs it again.
 */

import { declare } from '../../../../kernel/server/route.ts';
import * as shape from '../../api/fleet.ts';
import type { Fleets } from './fleets.ts';
import type { Trusts } from './trusts.ts';

export interface FleetScope {
  readonly fleets: Fleets;
  readonly trusts: Trusts;
}

const { noun, route } = declare<FleetScope>();

export const fleet = noun({
  routes: [
    route('POST /v1/fleet/compose', {
      id: 'composeFleet',
      summary: 'Convert a carrel.yaml to a docker-compose.yml',
      body: shape.fleetRequest,
      answer: shape.composedFleet,
      usesSettings: true,
      act: null,
      handle: async ({ scope, body }) => scope.fleets.compose(body),
    }),
    route('POST /v1/trust', {
      id: 'trustFile',
      summary: 'Trust what a carrel.yaml grants to sandboxes as it is now; with `dryRun` only list the grants',
      body: shape.trustRequest,
      answer: shape.trustView,
      act: ({ body: { file, dryRun } }) => (dryRun ? null : { verb: 'file.trust', names: [], detail: { file } }),
      handle: async ({ scope, body: { dryRun, ...file } }) =>
        dryRun ? scope.trusts.show(file) : scope.trusts.trust(file),
    }),
    route('POST /v1/trust/revoke', {
      id: 'revokeTrust',
      summary: 'Revoke the trust in a carrel.yaml, which may not exist any more; sandboxes keep what they have',
      body: shape.trustRevocation,
      answer: shape.trustRevocation,
      act: ({ body: { file } }) => ({ verb: 'file.untrust', names: [], detail: { file } }),
      handle: async ({ scope, body: { file } }) => scope.trusts.revoke(file),
    }),
    route('POST /v1/fleet/plan', {
      id: 'planFleet',
      summary: 'The steps that would bring the machine to what a carrel.yaml declares; none is taken',
      body: shape.fleetRequest,
      answer: shape.fleetPlan,
      usesSettings: true,
      act: null,
      handle: ({ scope, body }) => scope.fleets.plan(body),
    }),
  ],
});
