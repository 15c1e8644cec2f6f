import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../model/sandbox.ts';
import type { Hook } from './launch.ts';

export const metadataPath = '/run/carrel/metadata';

/** Who the sandbox is, as files and under the names that agents already look for. */
export const identity: Hook = {
  surroundings: ({ id }, places) => ({
    mounts: [
      {
        kind: 'bind',
        source: join(places.sandbox(id), 'metadata'),
        target: metadataPath,
        readonly: true,
      },
    ],
    env: {
      IS_SANDBOX: '1',
      CARREL_SANDBOX: id,
      SESSION_FILE: '/home/agent/.config/carrel/agent-session.json',
      MESSAGES_FILE: '/home/agent/.config/carrel/agent-messages.json',
    },
  }),
  prepare: (sandbox, places) => {
    const folder = join(places.sandbox(sandbox.id), 'metadata');
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
    // Written at every start, before anybody reads it: it need not survive a power cut.
    writeFileSync(join(folder, 'sandbox.json'), `${JSON.stringify(metadata(sandbox), null, 2)}\n`, { mode: 0o644 });
  },
};

function metadata({ id, name, createdAt, spec }: Sandbox): object {
  return { id, name, user: spec.user, project: spec.project, engine: spec.engine, createdAt, labels: spec.labels };
}
