import type { Hook } from '../../sandbox/launch/launch.ts';
import { secretsMount } from './secret.ts';

/** Mounts the secrets of the sandbox, as files in memory. */
export const secrets: Hook = {
  additions: ({ id, spec }, places) => {
    if (!spec.secrets?.length) return {};
    return { mounts: [secretsMount(places.installation, id)] };
  },
};
