import { hasHub, hubEnv } from '../model/hub-service.ts';
import { serviceEnv } from '../model/service.ts';
import type { Hook } from './launch.ts';

/** The addresses of the services that the sandbox may use. */
export const services: Hook = {
  additions: ({ spec }) => ({
    env: Object.assign({}, ...(spec.services ?? []).map(serviceEnv), hasHub(spec) ? hubEnv : {}),
  }),
};
