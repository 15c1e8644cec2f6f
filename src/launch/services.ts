import { serviceEnv } from '../model/service.ts';
import type { Hook } from './launch.ts';

/** Where the services are that it was granted. */
export const services: Hook = {
  surroundings: ({ spec }) => ({ env: Object.assign({}, ...(spec.services ?? []).map(serviceEnv)) }),
};
