/** `carrel doctor`: the rows of all nouns, then a proof of each claim of SECURITY.md. */
import { z } from 'zod';
import type { ProbeRow } from '../../../../kernel/engine/engine.ts';
import { declare } from '../../../../kernel/server/route.ts';
import { requireOwner } from '../../../../model/user.ts';
import * as shape from '../../api/doctor.ts';
import { type ProofParts, proveClaims } from './claims.ts';

export interface DoctorScope {
  readonly doctor: {
    /** The rows of every noun. */
    examine(): Promise<readonly ProbeRow[]>;
    readonly proof: ProofParts;
  };
}

const { noun, route } = declare<DoctorScope>();

export const doctor = noun({
  routes: [
    route('GET /v1/doctor', {
      id: 'doctor',
      summary: 'Test what this machine offers, and each claim of SECURITY.md in a sandbox',
      answer: z.array(shape.probeRow),
      usesSettings: true,
      act: () => ({ verb: 'daemon.examine', names: [] }),
      handle: async ({ actor, scope }) => {
        requireOwner(actor);
        return [...(await scope.doctor.examine())];
      },
    }),
  ],
  examine: ({ doctor }) => proveClaims(doctor.proof),
});
