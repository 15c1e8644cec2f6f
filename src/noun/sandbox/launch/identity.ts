import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Author } from '../../../model/author.ts';
import { metadataOf } from '../../grant-table.ts';
import { bankGrant } from '../../memory/model/bank.ts';
import { sessionsFolder } from '../../session/model/session.ts';
import type { Sandbox } from '../model.ts';
import type { SandboxPart } from '../part/part.ts';
import { metadataPath } from '../part/part.ts';

const gitFile = 'gitconfig';

/** Id, name and author of the sandbox, as files and as the variables that agents look for. */
export const identity: SandboxPart = {
  additions: ({ id, spec }, places) => ({
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
      SESSION_FILE: `${sessionsFolder}/newest/session.json`,
      MESSAGES_FILE: `${sessionsFolder}/newest/messages.json`,
      ...(spec.author ? { GIT_CONFIG_SYSTEM: `${metadataPath}/${gitFile}` } : {}),
    },
  }),
  prepare: (sandbox, places) => {
    const folder = join(places.sandbox(sandbox.id), 'metadata');
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o755);
    // The file is written at every start before it is read, so it need not survive a power cut.
    writeFileSync(join(folder, 'sandbox.json'), `${JSON.stringify(metadata(sandbox), null, 2)}\n`, { mode: 0o644 });
    if (sandbox.spec.author) writeFileSync(join(folder, gitFile), gitSettings(sandbox.spec.author), { mode: 0o644 });
  },
};

/**
 * Replaces the system's git settings and includes them. Settings in the agent's home and in the project have precedence, so
 * the agent can set another name and a project that names its author keeps it.
 */
export function gitSettings({ name, email }: Author): string {
  return `[include]\n\tpath = /etc/gitconfig\n[user]\n\tname = ${quoted(name)}\n\temail = ${quoted(email)}\n`;
}

/** Quoted for git's config parser. */
function quoted(text: string): string {
  return `"${text.replaceAll(/[\\"]/g, '\\$&')}"`;
}

function metadata({ id, name, createdAt, spec }: Sandbox): object {
  const { user, project, engine, labels } = spec;
  const bank = bankGrant(spec);
  const memoryBank = bank === null ? null : { readonly: bank.readonly };
  return { id, name, user, project, engine, createdAt, labels, ...metadataOf(spec), memoryBank };
}
