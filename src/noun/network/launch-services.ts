import { hasHub, hubEnv } from '../hub/model/service.ts';
import type { SandboxPart } from '../sandbox/part/part.ts';
import { serviceEnv } from './model/service.ts';

/** The addresses of the services that the sandbox may use. */
export const services: SandboxPart = {
  additions: ({ spec }) => ({
    env: Object.assign({}, ...(spec.services ?? []).map(serviceEnv), hasHub(spec) ? hubEnv : {}),
  }),
};
