import type { SandboxPart } from '../../sandbox/part/part.ts';
import { secretsMount } from './secret.ts';

/** Mounts the secrets of the sandbox, as files in memory. */
export const secrets: SandboxPart = {
  additions: ({ id, spec }, places) => {
    if (!spec.secrets?.length) return {};
    return { mounts: [secretsMount(places.installation, id)] };
  },
};
