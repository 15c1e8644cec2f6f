/** The secrets of a sandbox, as files in memory while it runs. */
import type { Sandbox } from '../../../sandbox/model.ts';
import type { SandboxPart } from '../../../sandbox/part/part.ts';
import type { SandboxSecrets, Secrets } from '../../secret/secret.ts';

export function secretPart(secrets: Secrets, sandboxSecrets: SandboxSecrets): SandboxPart {
  const remove = ({ id, spec }: Sandbox) => {
    if (spec.secrets?.length) sandboxSecrets.remove(id);
  };
  return {
    prepare: ({ id, spec }) => {
      if (!spec.secrets?.length) return;
      const values = spec.secrets.map((name) => ({ name, value: secrets.read(spec.user, name) }));
      sandboxSecrets.put(id, values);
    },
    conclude: remove,
    release: remove,
  };
}
