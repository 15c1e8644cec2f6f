/**
 * Which requests are acts, and what the audit log says of them. The compiler checks that no route is forgotten. Named here
 * is all that gets into the log: never a value, a variable or an argument.
 */
import type { AnswerOf, RouteName } from '../api/routes.ts';
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

type Asked<K extends RouteName> = Pick<Checked<K>, 'name' | 'query' | 'body'>;
/** Null: nothing is done. */
type Describe<K extends RouteName> = (asked: Asked<K>) => Described | null;

const named =
  (verb: string, frees = false) =>
  ({ name }: { readonly name: string }): Described => ({ verb, names: [name], frees });

export const acts: { readonly [K in RouteName]: Describe<K> | null } = {
  health: null,
  openapi: null,
  status: null,
  listEngines: null,
  events: null,
  followEvents: null,
  readAudit: null,
  doctor: () => ({ verb: 'daemon.examine', names: [] }),
  shutdown: ({ body }) => ({ verb: 'daemon.end', names: [], detail: { all: body.all ?? false }, frees: true }),
  listUsers: null,
  addUser: ({ body: { name, uid } }) => ({
    verb: 'user.add',
    names: [name],
    words: { 'the name': [name] },
    detail: given({ uid }),
  }),
  renewToken: ({ body: { name } }) => ({ verb: 'user.token', names: name === undefined ? [] : [name] }),
  removeUser: named('user.remove', true),
  listSecrets: null,
  setSecret: ({ body }) => ({ verb: 'secret.set', names: [body.name] }),
  removeSecret: named('secret.remove', true),
  listCredentials: null,
  addCredential: ({ body: { name, host, header, format } }) => ({
    verb: 'credential.add',
    names: [name],
    words: { 'the name': [name], '--host': [host], '--header': [header], '--format': [format] },
    detail: given({ host }),
  }),
  removeCredential: named('credential.remove', true),
  listVolumes: null,
  volumeStatus: null,
  listBackups: null,
  initVolumes: ({ body }) => ({
    verb: 'volume.init',
    names: body.names ?? [],
    detail: given({ plugins: body.plugins }),
  }),
  createVolume: ({ body }) => ({ verb: 'volume.create', names: [body.name], words: { 'the name': [body.name] } }),
  removeVolume: named('volume.remove', true),
  removeBackup: ({ body }) => ({ verb: 'volume.backup.remove', names: [], detail: { file: body.file }, frees: true }),
  cleanVolumes: ({ body: { names = [], backup = true, dryRun } }) =>
    dryRun ? null : { verb: 'volume.clean', names, detail: { backup }, frees: true },
  migrateVolumes: ({ body }) => ({ verb: 'volume.migrate', names: [], detail: { folder: body.folder } }),
  backupVolume: named('volume.backup'),
  restoreVolume: ({ body }) => ({ verb: 'volume.restore', names: [], detail: { file: body.file } }),
  listTasks: null,
  showTask: null,
  markStory: ({ body: { file, story, status, notes } }) => ({
    verb: 'task.mark',
    names: [story],
    words: { '--notes': [notes] },
    detail: { file, status },
  }),
  skipStory: ({ body: { file, story } }) => ({ verb: 'task.skip', names: [story], detail: { file } }),
  resetStories: ({ body: { file } }) => ({ verb: 'task.reset', names: [], detail: { file } }),
  composeFleet: null,
  planFleet: null,
  trustFile: ({ body: { file, dryRun } }) => (dryRun ? null : { verb: 'file.trust', names: [], detail: { file } }),
  listImages: null,
  buildImage: ({ body }) => ({ verb: 'image.build', names: [], detail: given({ project: body.project }) }),
  removeImage: ({ body: { name } }) => ({ verb: 'image.remove', names: [name] }),
  runSwarm: ({ body }) => ({ verb: 'swarm.run', names: [], ...swarmChoice(body) }),
  showSwarm: null,
  resumeSwarm: ({ body }) => ({ verb: 'swarm.resume', names: body.names ?? [], ...swarmChoice(body) }),
  stopSwarm: ({ body }) => ({
    verb: 'swarm.stop',
    names: body.names ?? [],
    detail: { project: body.project },
    frees: true,
  }),
  exportSwarm: null,
  keepSwarmFile: ({ body: { project, file } }) => ({
    verb: 'swarm.keep',
    names: [],
    words: { '--file': [file ?? undefined] },
    detail: given({ project, file }),
  }),
  initSwarm: ({ body }) => ({ verb: 'swarm.init', names: [], detail: { project: body.project } }),
  addContainer: ({ body: { project, containerName, taskFilePath, branchName } }) => ({
    verb: 'swarm.add',
    names: [containerName],
    words: { 'the name': [containerName], 'the task file': [taskFilePath], 'the branch': [branchName] },
    detail: { project },
  }),
  updateContainer: ({ body }) => ({
    verb: 'swarm.update',
    names: [body.containerName],
    words: { 'the address': [body.prUrl ?? undefined] },
    detail: given({ status: body.status }),
  }),
  removeContainer: ({ body }) => ({ verb: 'swarm.remove', names: [body.containerName], frees: true }),
  cleanSwarm: ({ body }) => ({ verb: 'swarm.cleanup', names: [], detail: { project: body.project }, frees: true }),
  listSandboxes: null,
  createSandbox: ({ body }) => ({
    verb: 'sandbox.create',
    names: body.name === undefined ? [] : [body.name],
    detail: surroundings(body),
    as: body.user,
  }),
  showSandbox: null,
  removeSandbox: ({ name, query: { force = false, dryRun } }) =>
    dryRun ? null : { verb: 'sandbox.remove', names: [name], detail: { force }, frees: true },
  startSandbox: named('sandbox.start'),
  stopSandbox: named('sandbox.stop', true),
  waitSandbox: null,
  sandboxLogs: null,
  sandboxStats: null,
  sandboxSizes: null,
  listChanges: null,
  diffSandbox: null,
  patchSandbox: null,
  apply: ({ body: { names, dryRun, branch, message, author, allow, always, ask } }) => {
    if (ask !== undefined) return { verb: 'project.ask', names, detail: { kinds: ask } };
    const words = { '--branch': [branch], '--message': [message], 'the author': [author?.name, author?.email] };
    return dryRun ? null : { verb: 'sandbox.apply', names, words, detail: given({ allow, always }) };
  },
  undoApply: named('sandbox.undo'),
  discardChanges: named('sandbox.discard'),
  listSnapshots: null,
  takeSnapshot: ({ name, body }) => ({ verb: 'sandbox.snapshot', names: [name], words: { 'the label': [body.label] } }),
  restoreSnapshot: ({ name, body }) => ({
    verb: 'sandbox.restore',
    names: [name],
    detail: { snapshot: body.snapshot },
  }),
  forkSandbox: ({ name, body }) => ({ verb: 'sandbox.fork', names: [name], words: { 'the name': body.names ?? [] } }),
  changeNetwork: ({ name, body }) => ({
    verb: 'sandbox.network',
    names: [name],
    words: { 'a rule': [...(body.allow ?? []), ...(body.deny ?? [])] },
    detail: given({ allow: body.allow, deny: body.deny }),
  }),
  explainNetwork: null,
  networkLog: null,
  listPorts: null,
  addPort: ({ name, body: { port, hostPort, hostAddress } }) => ({
    verb: 'sandbox.port.add',
    names: [name],
    detail: given({ port, hostPort, hostAddress }),
  }),
  removePort: ({ name, body }) => ({ verb: 'sandbox.port.remove', names: [name], detail: { port: body.port } }),
  attachSandbox: named('sandbox.attach'),
  execSandbox: named('sandbox.exec'),
};

export interface Done {
  /** Instead of what was named beforehand. */
  readonly targets?: readonly Target[];
  readonly detail?: Detail;
}

/** What only the answer tells. */
export const done: { readonly [K in RouteName]?: (answer: AnswerOf<K>) => Done } = {
  shutdown: ({ stopped }) => ({ targets: stopped.map((name) => ({ name })) }),
  renewToken: ({ user }) => ({ targets: [{ name: user.name }] }),
  initVolumes: (volumes) => ({ targets: volumes.map(({ name }) => ({ name })) }),
  cleanVolumes: ({ removed }) => ({ targets: removed.map(({ name }) => ({ name })) }),
  migrateVolumes: ({ migrated }) => ({ targets: migrated.map(({ to }) => ({ name: to })) }),
  restoreVolume: ({ volume }) => ({ targets: [{ name: volume.name }] }),
  skipStory: ({ changed }) => ({ targets: changed.map((name) => ({ name })) }),
  resetStories: ({ changed }) => ({ targets: changed.map((name) => ({ name })) }),
  createSandbox: ({ name, id }) => ({ targets: [{ name, id }] }),
  apply: ({ apply, blocked, branch }) => ({
    detail: given({ apply, blocked, branch: branch?.name, commit: branch?.commit }),
  }),
  undoApply: ({ apply }) => ({ detail: { apply } }),
  takeSnapshot: ({ id }) => ({ detail: { snapshot: id } }),
  forkSandbox: (forks) => ({ detail: { forks: forks.map(({ name }) => name) } }),
};

function swarmChoice({ project, agent, author, sandbox }: Asked<'runSwarm' | 'resumeSwarm'>['body']) {
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
function surroundings(body: Asked<'createSandbox'>['body']): Detail {
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
