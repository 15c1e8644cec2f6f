/** Where each route of the API is. Apart from `routes.ts`, so that the client loads no schemas. */
export interface Path {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
}

/** Names the user that the owner of an installation acts as. */
export const actAsHeader = 'carrel-user';

const at = '/v1/sandboxes/{name}';

export const paths = {
  health: { method: 'GET', path: '/health' },
  openapi: { method: 'GET', path: '/openapi.json' },
  status: { method: 'GET', path: '/v1/status' },
  doctor: { method: 'GET', path: '/v1/doctor' },
  shutdown: { method: 'POST', path: '/v1/shutdown' },
  events: { method: 'GET', path: '/v1/events' },
  followEvents: { method: 'GET', path: '/v1/events/stream' },
  readAudit: { method: 'GET', path: '/v1/audit' },
  listUsers: { method: 'GET', path: '/v1/users' },
  addUser: { method: 'POST', path: '/v1/users' },
  removeUser: { method: 'DELETE', path: '/v1/users/{name}' },
  listSecrets: { method: 'GET', path: '/v1/secrets' },
  setSecret: { method: 'POST', path: '/v1/secrets' },
  removeSecret: { method: 'DELETE', path: '/v1/secrets/{name}' },
  listCredentials: { method: 'GET', path: '/v1/credentials' },
  addCredential: { method: 'POST', path: '/v1/credentials' },
  removeCredential: { method: 'DELETE', path: '/v1/credentials/{name}' },
  listVolumes: { method: 'GET', path: '/v1/volumes' },
  volumeStatus: { method: 'GET', path: '/v1/volumes/status' },
  initVolumes: { method: 'POST', path: '/v1/volumes' },
  cleanVolumes: { method: 'POST', path: '/v1/volumes/clean' },
  migrateVolumes: { method: 'POST', path: '/v1/volumes/migrate' },
  backupVolume: { method: 'POST', path: '/v1/volumes/{name}/backup' },
  restoreVolume: { method: 'POST', path: '/v1/volumes/restore' },
  listTasks: { method: 'GET', path: '/v1/tasks' },
  showTask: { method: 'GET', path: '/v1/tasks/file' },
  markStory: { method: 'POST', path: '/v1/tasks/mark' },
  skipStory: { method: 'POST', path: '/v1/tasks/skip' },
  resetStories: { method: 'POST', path: '/v1/tasks/reset' },
  composeFleet: { method: 'POST', path: '/v1/fleet/compose' },
  planFleet: { method: 'POST', path: '/v1/fleet/plan' },
  listImages: { method: 'GET', path: '/v1/images' },
  buildImage: { method: 'POST', path: '/v1/images/build' },
  listSandboxes: { method: 'GET', path: '/v1/sandboxes' },
  createSandbox: { method: 'POST', path: '/v1/sandboxes' },
  showSandbox: { method: 'GET', path: at },
  removeSandbox: { method: 'DELETE', path: at },
  startSandbox: { method: 'POST', path: `${at}/start` },
  stopSandbox: { method: 'POST', path: `${at}/stop` },
  waitSandbox: { method: 'GET', path: `${at}/wait` },
  sandboxLogs: { method: 'GET', path: `${at}/logs` },
  sandboxStats: { method: 'GET', path: '/v1/stats' },
  attachSandbox: { method: 'GET', path: `${at}/attach` },
  sandboxSizes: { method: 'GET', path: '/v1/sizes' },
  listChanges: { method: 'POST', path: `${at}/changes` },
  diffSandbox: { method: 'POST', path: `${at}/diff` },
  patchSandbox: { method: 'POST', path: `${at}/patch` },
  apply: { method: 'POST', path: '/v1/apply' },
  undoApply: { method: 'POST', path: `${at}/undo` },
  discardChanges: { method: 'POST', path: `${at}/discard` },
  listSnapshots: { method: 'GET', path: `${at}/snapshots` },
  takeSnapshot: { method: 'POST', path: `${at}/snapshots` },
  restoreSnapshot: { method: 'POST', path: `${at}/restore` },
  forkSandbox: { method: 'POST', path: `${at}/fork` },
  execSandbox: { method: 'POST', path: `${at}/exec` },
} as const satisfies Record<string, Path>;
