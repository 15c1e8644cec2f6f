import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../api/client.ts';
import { agentPresets } from '../../model/agent.ts';
import { credentialNamePattern } from '../../model/credential.ts';
import { checkSandboxName, sandboxNamePattern } from '../../model/name.ts';
import { projectIdPattern } from '../../model/project.ts';
import { secretNamePattern } from '../../model/secret.ts';
import { userNamePattern } from '../../model/user.ts';
import { volumeNamePattern } from '../../model/volume.ts';
import type { Context, Invocation, NameKind } from '../cli.ts';
import { connectRunning } from '../connect/connect.ts';
import { execInside } from '../stream/exec.ts';

const patienceMs = 500;
/** Something has to start inside. */
const patienceInsideMs = 3000;
const maxBytes = 64 * 1024;

type Named = readonly { readonly name: string }[];

const sources: { readonly [kind in NameKind]: (client: Client, signal: AbortSignal) => Promise<Named> } = {
  sandboxes: (client, signal) => client.call('GET /v1/sandboxes', { signal }),
  users: (client, signal) => client.call('GET /v1/users', { signal }),
  volumes: async (client, signal) => {
    const volumes = await client.call('GET /v1/volumes', { signal });
    return volumes.map(({ name, label }) => ({ name: label ?? name }));
  },
  secrets: (client, signal) => client.call('GET /v1/secrets', { signal }),
  images: (client, signal) => client.call('GET /v1/images', { signal }),
  credentials: (client, signal) => client.call('GET /v1/credentials', { signal }),
  projects: async (client, signal) => {
    const projects = await client.call('GET /v1/projects', { signal });
    return projects.map(({ id }) => ({ name: id }));
  },
  agents: async () => Object.keys(agentPresets).map((name) => ({ name })),
};

// A shell takes these words apart, so nothing but a name may be among them.
const patterns: { readonly [kind in NameKind]: RegExp } = {
  sandboxes: sandboxNamePattern,
  users: userNamePattern,
  volumes: volumeNamePattern,
  secrets: secretNamePattern,
  images: /^[a-z0-9][a-z0-9._:/-]*$/,
  credentials: credentialNamePattern,
  projects: projectIdPattern,
  agents: /^[a-z][a-z0-9-]*$/,
};
const harmless = /^[\w@%+=,./-]+$/;

/** For completion scripts: quick, silent when anything is amiss, and never the reason that a daemon starts. */
export default async function names(context: Context, { args }: Invocation): Promise<void> {
  const [kind = 'sandboxes', of = ''] = args;
  try {
    context.out.print(...(await listed(context, kind, of)));
  } catch {
    // No daemon, or no such kind: no names.
  }
}

/** Those that the owner declared in config.yaml. */
async function ownAgents(home: string): Promise<Named> {
  try {
    const { readYaml } = await import('../../lib/yaml.ts');
    const file = join(home, 'config.yaml');
    const content = readYaml(readFileSync(file, 'utf8'), file).content as { agents?: object } | null;
    return Object.keys(content?.agents ?? {}).map((name) => ({ name }));
  } catch {
    // None that can be read, ignoring: presets are there without it.
    return [];
  }
}

async function listed(context: Context, kind: string, of: string): Promise<string[]> {
  const client = connectRunning(context);
  if (kind === 'snapshots') return snapshotsOf(client, checkSandboxName(of));
  if (kind === 'inside') return filesInside(client, of);
  const found = await sources[kind as NameKind](client, AbortSignal.timeout(patienceMs));
  const all = kind === 'agents' ? [...found, ...(await ownAgents(context.home))] : found;
  return all.map(({ name }) => name).filter((name) => patterns[kind as NameKind].test(name));
}

/** What `restore` takes: ids and labels. */
async function snapshotsOf(client: Client, name: string): Promise<string[]> {
  const all = await client.call('GET /v1/sandboxes/{name}/snapshots', {
    path: { name },
    signal: AbortSignal.timeout(patienceMs),
  });
  return all.flatMap(({ id, label }) => [id, ...(label ? [label] : [])]).filter((word) => harmless.test(word));
}

const listing = 'for f in "$1"*; do if [ -d "$f" ]; then echo "$f/"; elif [ -e "$f" ]; then echo "$f"; fi; done';

/** What begins like NAME:PATH in a sandbox that runs, folders with a slash. */
async function filesInside(client: Client, place: string): Promise<string[]> {
  const at = place.indexOf(':');
  const [name, path] = [checkSandboxName(place.slice(0, at)), place.slice(at + 1)];
  const chunks: Buffer[] = [];
  const take = (chunk: Buffer) => void chunks.push(chunk);
  const inside = { client, name, signal: AbortSignal.timeout(patienceInsideMs) };
  await execInside(inside, ['sh', '-c', listing, 'sh', path], { stdout: take, stderr: () => {} });
  const lines = Buffer.concat(chunks).subarray(0, maxBytes).toString('utf8').split('\n');
  return lines.filter((line) => harmless.test(line)).map((line) => `${name}:${line}`);
}
