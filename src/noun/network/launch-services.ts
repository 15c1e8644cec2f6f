import { hasHub, hubEnv } from '../hub/model/service.ts';
import type { Hook } from '../sandbox/launch/launch.ts';
import { serviceEnv } from './model/service.ts';

/** The addresses of the services that the sandbox may use. */
export const services: Hook = {
  additions: ({ spec }) => ({
    env: Object.assign({}, ...(spec.services ?? []).map(serviceEnv), hasHub(spec) ? hubEnv : {}),
  }),
};
