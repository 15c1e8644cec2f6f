/**
 * Which requests are acts, and what the audit log says of them. The compiler checks that no route is forgotten. Named here
 * is all that gets into the log: never a value, a variable or an argument.
 */
import type { AnswerOf, RouteKey } from '../api/routes.ts';
import type { Detail, Target } from '../audit/audit.ts';
import type { Checked } from './handlers.ts';

export interface Described {
  readonly verb: string;
  /** What it is done to. */
  readonly names: readonly string[];
  /** What of it is kept as it was said, by what that is called: no place for the value of a secret. */
  readonly words?: Readonly<Record<string, readonly (string | undefined)[]>>;
  /** Told only of what was done. */
  readonly detail?: Detail;
  /** Whom it is done for, where the request itself says so. */
  readonly as?: string | undefined;
  /** Goes on although nothing can be written: it makes room. */
  readonly frees?: boolean;
}

type Asked<K extends RouteKey> = Pick<Checked<K>, 'name' | 'query' | 'body'>;
/** Null: nothing is done. */
type Describe<K extends RouteKey> = (asked: Asked<K>) => Described | null;

const named =
  (verb: string, frees = false) =>
  ({ name }: { readonly name: string }): Described => ({ verb, names: [name], frees });

export const acts: { readonly [K in RouteKey]: Describe<K> | null } = {
  'GET /health': null,
  'GET /openapi.json': null,
  'GET /v1/status': null,
  'GET /v1/engines': null,
  'GET /v1/events': null,
  'GET /v1/events/stream': null,
  'GET /v1/audit': null,
  'GET /v1/doctor': () => ({ verb: 'daemon.examine', names: [] }),
  'POST /v1/shutdown': ({ body }) => ({
    verb: 'daemon.end',
    names: [],
    detail: { all: body.all ?? false },
    frees: true,
  }),
  'GET /v1/users': null,
  'POST /v1/users': ({ body: { name, uid } }) => ({
    verb: 'user.add',
    names: [name],
    words: { 'the name': [name] },
    detail: given({ uid }),
  }),
  'POST /v1/users/token': ({ body: { name } }) => ({ verb: 'user.token', names: name === undefined ? [] : [name] }),
  'DELETE /v1/users/{name}': named('user.remove', true),
  'GET /v1/secrets': null,
  'POST /v1/secrets': ({ body }) => ({ verb: 'secret.set', names: [body.name] }),
  'DELETE /v1/secrets/{name}': named('secret.remove', true),
  'GET /v1/credentials': null,
  'POST /v1/credentials': ({ body: { name, host, header, format } }) => ({
    verb: 'credential.add',
    names: [name],
    words: { 'the name': [name], '--host': [host], '--header': [header], '--format': [format] },
    detail: given({ host }),
  }),
  'DELETE /v1/credentials/{name}': named('credential.remove', true),
  'GET /v1/volumes': null,
  'GET /v1/volumes/status': null,
  'GET /v1/volumes/backups': null,
  'POST /v1/volumes': ({ body }) => ({
    verb: 'volume.init',
    names: body.names ?? [],
    detail: given({ plugins: body.plugins }),
  }),
  'POST /v1/volumes/named': ({ body }) => ({
    verb: 'volume.create',
    names: [body.name],
    words: { 'the name': [body.name] },
  }),
  'DELETE /v1/volumes/{name}': named('volume.remove', true),
  'POST /v1/volumes/backups/remove': ({ body }) => ({
    verb: 'volume.backup.remove',
    names: [],
    detail: { file: body.file },
    frees: true,
  }),
  'POST /v1/volumes/clean': ({ body: { names = [], backup = true, dryRun } }) =>
    dryRun ? null : { verb: 'volume.clean', names, detail: { backup }, frees: true },
  'POST /v1/volumes/migrate': ({ body }) => ({ verb: 'volume.migrate', names: [], detail: { folder: body.folder } }),
  'POST /v1/volumes/{name}/backup': named('volume.backup'),
  'POST /v1/volumes/restore': ({ body }) => ({ verb: 'volume.restore', names: [], detail: { file: body.file } }),
  'GET /v1/tasks': null,
  'GET /v1/tasks/file': null,
  'POST /v1/tasks/mark': ({ body: { file, story, status, notes } }) => ({
    verb: 'task.mark',
    names: [story],
    words: { '--notes': [notes] },
    detail: { file, status },
  }),
  'POST /v1/tasks/skip': ({ body: { file, story } }) => ({ verb: 'task.skip', names: [story], detail: { file } }),
  'POST /v1/tasks/reset': ({ body: { file } }) => ({ verb: 'task.reset', names: [], detail: { file } }),
  'POST /v1/fleet/compose': null,
  'POST /v1/fleet/plan': null,
  'POST /v1/trust': ({ body: { file, dryRun } }) =>
    dryRun ? null : { verb: 'file.trust', names: [], detail: { file } },
  'GET /v1/images': null,
  'POST /v1/images/build': ({ body }) => ({ verb: 'image.build', names: [], detail: given({ project: body.project }) }),
  'POST /v1/images/remove': ({ body: { name } }) => ({ verb: 'image.remove', names: [name] }),
  'POST /v1/swarm/run': ({ body }) => ({ verb: 'swarm.run', names: [], ...swarmChoice(body) }),
  'GET /v1/swarm/show': null,
  'POST /v1/swarm/resume': ({ body }) => ({ verb: 'swarm.resume', names: body.names ?? [], ...swarmChoice(body) }),
  'POST /v1/swarm/stop': ({ body }) => ({
    verb: 'swarm.stop',
    names: body.names ?? [],
    detail: { project: body.project },
    frees: true,
  }),
  'GET /v1/swarm': null,
  'POST /v1/swarm/file': ({ body: { project, file } }) => ({
    verb: 'swarm.keep',
    names: [],
    words: { '--file': [file ?? undefined] },
    detail: given({ project, file }),
  }),
  'POST /v1/swarm/init': ({ body }) => ({ verb: 'swarm.init', names: [], detail: { project: body.project } }),
  'POST /v1/swarm/add': ({ body: { project, containerName, taskFilePath, branchName } }) => ({
    verb: 'swarm.add',
    names: [containerName],
    words: { 'the name': [containerName], 'the task file': [taskFilePath], 'the branch': [branchName] },
    detail: { project },
  }),
  'POST /v1/swarm/update': ({ body }) => ({
    verb: 'swarm.update',
    names: [body.containerName],
    words: { 'the address': [body.prUrl ?? undefined] },
    detail: given({ status: body.status }),
  }),
  'POST /v1/swarm/remove': ({ body }) => ({ verb: 'swarm.remove', names: [body.containerName], frees: true }),
  'POST /v1/swarm/cleanup': ({ body }) => ({
    verb: 'swarm.cleanup',
    names: [],
    detail: { project: body.project },
    frees: true,
  }),
  'GET /v1/sandboxes': null,
  'POST /v1/sandboxes': ({ body }) => ({
    verb: 'sandbox.create',
    names: body.name === undefined ? [] : [body.name],
    detail: surroundings(body),
    as: body.user,
  }),
  'GET /v1/sandboxes/{name}': null,
  'DELETE /v1/sandboxes/{name}': ({ name, query: { force = false, dryRun } }) =>
    dryRun ? null : { verb: 'sandbox.remove', names: [name], detail: { force }, frees: true },
  'POST /v1/sandboxes/{name}/start': named('sandbox.start'),
  'POST /v1/sandboxes/{name}/stop': named('sandbox.stop', true),
  'GET /v1/sandboxes/{name}/wait': null,
  'GET /v1/sandboxes/{name}/logs': null,
  'GET /v1/stats': null,
  'GET /v1/sizes': null,
  'POST /v1/sandboxes/{name}/changes': null,
  'POST /v1/sandboxes/{name}/diff': null,
  'POST /v1/sandboxes/{name}/patch': null,
  'POST /v1/apply': ({ body: { names, dryRun, branch, message, author, allow, always, ask } }) => {
    if (ask !== undefined) return { verb: 'project.ask', names, detail: { kinds: ask } };
    const words = { '--branch': [branch], '--message': [message], 'the author': [author?.name, author?.email] };
    return dryRun ? null : { verb: 'sandbox.apply', names, words, detail: given({ allow, always }) };
  },
  'POST /v1/sandboxes/{name}/undo': named('sandbox.undo'),
  'POST /v1/sandboxes/{name}/discard': named('sandbox.discard'),
  'GET /v1/sandboxes/{name}/snapshots': null,
  'POST /v1/sandboxes/{name}/snapshots': ({ name, body }) => ({
    verb: 'sandbox.snapshot',
    names: [name],
    words: { 'the label': [body.label] },
  }),
  'POST /v1/sandboxes/{name}/restore': ({ name, body }) => ({
    verb: 'sandbox.restore',
    names: [name],
    detail: { snapshot: body.snapshot },
  }),
  'POST /v1/sandboxes/{name}/fork': ({ name, body }) => ({
    verb: 'sandbox.fork',
    names: [name],
    words: { 'the name': body.names ?? [] },
  }),
  'POST /v1/sandboxes/{name}/network': ({ name, body }) => ({
    verb: 'sandbox.network',
    names: [name],
    words: { 'a rule': [...(body.allow ?? []), ...(body.deny ?? [])] },
    detail: given({ allow: body.allow, deny: body.deny }),
  }),
  'POST /v1/sandboxes/{name}/network/explain': null,
  'GET /v1/sandboxes/{name}/network/log': null,
  'GET /v1/ports': null,
  'POST /v1/sandboxes/{name}/ports': ({ name, body: { port, hostPort, hostAddress } }) => ({
    verb: 'sandbox.port.add',
    names: [name],
    detail: given({ port, hostPort, hostAddress }),
  }),
  'POST /v1/sandboxes/{name}/ports/remove': ({ name, body }) => ({
    verb: 'sandbox.port.remove',
    names: [name],
    detail: { port: body.port },
  }),
  'GET /v1/sandboxes/{name}/attach': named('sandbox.attach'),
  'POST /v1/sandboxes/{name}/exec': named('sandbox.exec'),
};

export interface Done {
  /** Instead of what was named beforehand. */
  readonly targets?: readonly Target[];
  readonly detail?: Detail;
}

/** What only the answer tells. */
export const done: { readonly [K in RouteKey]?: (answer: AnswerOf<K>) => Done } = {
  'POST /v1/shutdown': ({ stopped }) => ({ targets: stopped.map((name) => ({ name })) }),
  'POST /v1/users/token': ({ user }) => ({ targets: [{ name: user.name }] }),
  'POST /v1/volumes': (volumes) => ({ targets: volumes.map(({ name }) => ({ name })) }),
  'POST /v1/volumes/clean': ({ removed }) => ({ targets: removed.map(({ name }) => ({ name })) }),
  'POST /v1/volumes/migrate': ({ migrated }) => ({ targets: migrated.map(({ to }) => ({ name: to })) }),
  'POST /v1/volumes/restore': ({ volume }) => ({ targets: [{ name: volume.name }] }),
  'POST /v1/tasks/skip': ({ changed }) => ({ targets: changed.map((name) => ({ name })) }),
  'POST /v1/tasks/reset': ({ changed }) => ({ targets: changed.map((name) => ({ name })) }),
  'POST /v1/sandboxes': ({ name, id }) => ({ targets: [{ name, id }] }),
  'POST /v1/apply': ({ apply, blocked, branch }) => ({
    detail: given({ apply, blocked, branch: branch?.name, commit: branch?.commit }),
  }),
  'POST /v1/sandboxes/{name}/undo': ({ apply }) => ({ detail: { apply } }),
  'POST /v1/sandboxes/{name}/snapshots': ({ id }) => ({ detail: { snapshot: id } }),
  'POST /v1/sandboxes/{name}/fork': (forks) => ({ detail: { forks: forks.map(({ name }) => name) } }),
};

function swarmChoice({
  project,
  agent,
  author,
  sandbox,
}: Asked<'POST /v1/swarm/run' | 'POST /v1/swarm/resume'>['body']) {
  return {
    words: {
      '--env': Object.values(sandbox?.env ?? {}),
      '--network': [sandbox?.network ?? []].flat(),
      'the author': [author?.name, author?.email],
    },
    detail: { ...given({ project, agent }), ...(sandbox ? surroundings(sandbox) : {}) },
  };
}

/** What it is made of, and what it can read and reach. */
function surroundings(body: Asked<'POST /v1/sandboxes'>['body']): Detail {
  const { engine = 'local', image, project, mode, home, rootfs, secrets, credentials, services, network } = body;
  const volumes = body.volumes?.map(({ volume }) => volume);
  const reaches = network && [network].flat();
  return given({
    engine,
    image,
    rootfs,
    project,
    mode,
    home,
    secrets,
    credentials,
    services,
    volumes,
    network: reaches,
  });
}

/** Without what was not said. */
function given(all: Readonly<Record<string, Detail[string] | null | undefined>>): Detail {
  const said = Object.entries(all).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(said) as Detail;
}
