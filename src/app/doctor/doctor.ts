/** `carrel doctor`. */
import { z } from 'zod';
import * as shape from '../../api/doctor.ts';
import { requireOwner } from '../../model/user.ts';
import { declare } from '../route.ts';
import type { Doctor } from './examination.ts';

export interface DoctorScope {
  readonly doctor: Doctor;
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
        return scope.doctor.examine();
      },
    }),
  ],
});
