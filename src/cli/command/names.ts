import type { Client } from '../../api/client.ts';
import { credentialNamePattern } from '../../model/credential.ts';
import { sandboxNamePattern } from '../../model/name.ts';
import { secretNamePattern } from '../../model/secret.ts';
import { userNamePattern } from '../../model/user.ts';
import { volumeNamePattern } from '../../model/volume.ts';
import type { NameKind } from '../commands.ts';
import type { Context, Invocation } from '../context.ts';
import { connectRunning } from '../daemon.ts';

const patienceMs = 500;

type Named = readonly { readonly name: string }[];

const sources: { readonly [kind in NameKind]: (client: Client, signal: AbortSignal) => Promise<Named> } = {
  sandboxes: (client, signal) => client.call('listSandboxes', { signal }),
  users: (client, signal) => client.call('listUsers', { signal }),
  volumes: (client, signal) => client.call('listVolumes', { signal }),
  secrets: (client, signal) => client.call('listSecrets', { signal }),
  images: (client, signal) => client.call('listImages', { signal }),
  credentials: (client, signal) => client.call('listCredentials', { signal }),
};

// A shell takes these words apart, so nothing but a name may be among them.
const patterns: { readonly [kind in NameKind]: RegExp } = {
  sandboxes: sandboxNamePattern,
  users: userNamePattern,
  volumes: volumeNamePattern,
  secrets: secretNamePattern,
  images: /^[a-z0-9][a-z0-9._:/-]*$/,
  credentials: credentialNamePattern,
};

/** For completion scripts: quick, silent when anything is amiss, and never the reason that a daemon starts. */
export default async function names(context: Context, { args }: Invocation): Promise<void> {
  const kind = (args[0] ?? 'sandboxes') as NameKind;
  try {
    const all = await sources[kind](connectRunning(context), AbortSignal.timeout(patienceMs));
    context.out.print(...all.map(({ name }) => name).filter((name) => patterns[kind].test(name)));
  } catch {
    // No daemon, or no such kind: no names.
  }
}
