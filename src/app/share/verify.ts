/** Proves each consumer of a share by a probe through it, and names the side that fails and the cure. */
import type { VerdictView } from '../../api/share.ts';
import { ForeignContainer } from '../../engine/docker/foreign-container.ts';
import type { EngineOf, Process } from '../../engine/engine.ts';
import { findProgram } from '../../engine/local/runtime.ts';
import { collect } from '../../lib/collect.ts';
import { outsideId, readIdMap } from '../../lib/id-map.ts';
import { type Ran, run } from '../../lib/run.ts';
import { asFault } from '../../model/fault.ts';
import { type Consumer, consumerText, parseConsumer, type Share, sandboxOf } from '../../model/share.ts';
import { type Failure, probe, type RunAs } from '../../share/probe.ts';
import type { Store } from '../../store/store.ts';
import { accountOf } from './account.ts';
import type { Observer } from './observe.ts';
import { findShare, noConsumer, type ShareRow } from './record.ts';

export interface VerifyParts {
  readonly store: Store;
  readonly user: string;
  readonly observer: Observer;
  readonly engineOf: EngineOf;
  readonly dockerSocket: () => string | null;
}

const probeMs = 20_000;
const maxOutputBytes = 64 * 1024;

/** Why a consumer cannot be probed from here, and what can be done instead. */
class NotVerified extends Error {
  readonly cure: string | null;
  constructor(reason: string, cure: string | null) {
    super(reason);
    this.cure = cure;
  }
}

export async function verify(parts: VerifyParts, name: string, asked: string | undefined): Promise<VerdictView[]> {
  const row = findShare(parts.store, parts.user, name);
  const all = parts.observer.consumers(row);
  const wanted = asked === undefined ? null : consumerText(parseConsumer(asked));
  const chosen = all.filter((one) => wanted === null || consumerText(one) === wanted);
  if (chosen.length === 0 && wanted !== null) throw noConsumer(name, wanted, all.map(consumerText));
  const verdicts: VerdictView[] = [];
  for (const consumer of chosen) verdicts.push(await verdict(parts, row, consumer));
  return verdicts;
}

async function verdict(parts: VerifyParts, row: ShareRow, consumer: Consumer): Promise<VerdictView> {
  const view = { consumer: consumerText(consumer), path: consumer.path };
  try {
    const failure = await probe(row.value, consumer, await runnerOf(parts, row, consumer));
    if (failure === null) return { ...view, result: 'verified', side: null, reason: null, cure: null };
    const { side, reason } = failure;
    return { ...view, result: 'failed', side, reason, cure: cureOf(row.value, consumer, failure) };
  } catch (error) {
    if (error instanceof NotVerified)
      return { ...view, result: 'not verified', side: null, reason: error.message, cure: error.cure };
    const { message, hint } = asFault(error);
    return { ...view, result: 'failed', side: 'host', reason: message, cure: hint ?? null };
  }
}

async function runnerOf(parts: VerifyParts, { owner, value }: ShareRow, consumer: Consumer): Promise<RunAs> {
  const sandbox = sandboxOf(consumer);
  if (sandbox !== null) return inSandbox(parts, owner, sandbox);
  if (consumer.kind === 'docker') return inContainer(consumer, parts.dockerSocket());
  return consumer.kind === 'lxc' ? inGuest(value, consumer) : asPerson(value, consumer);
}

function inSandbox({ store, engineOf }: VerifyParts, owner: string, name: string): RunAs {
  const found = store.find('sandbox', owner, name)?.value;
  if (!found) throw new NotVerified('there is no such sandbox', `carrel create --name ${name}`);
  if (found.status.state !== 'running') throw new NotVerified(`it is ${found.status.state}`, `carrel start ${name}`);
  return async (command) => {
    const spec = { command, env: {}, cwd: '/', stdin: false, terminal: null };
    const process = await engineOf(found).exec(found.id, found.status.handle, spec);
    process.stdin.end();
    return outcome(process);
  };
}

async function inContainer({ name }: Consumer, socket: string | null): Promise<RunAs> {
  const container = new ForeignContainer(name, socket);
  const found = await container.look();
  if (found === null) throw new NotVerified('there is no such container', 'carrel share render NAME --for docker');
  if (!found.isRunning) throw new NotVerified('it does not run', `docker start ${name}`);
  return async (command) => outcome(await container.exec(command));
}

/** As root of the guest. */
function inGuest({ folder }: Share, { name, path }: Consumer): RunAs {
  const [pct, attach] = [findProgram('pct'), findProgram('lxc-attach')];
  const enter = pct ? [pct, 'exec', name, '--'] : attach ? [attach, '-n', name, '--'] : null;
  if (enter === null)
    throw new NotVerified(
      'neither pct nor lxc-attach is on this machine',
      `Run on its host: touch ${folder}/probe; pct exec ${name} -- rm ${path}/probe`,
    );
  return (command) => run([...enter, ...command] as [string, ...string[]], probeMs);
}

async function asPerson({ folder }: Share, { name, uid }: Consumer): Promise<RunAs> {
  const own = outsideId(readIdMap('uid'), process.getuid!());
  if (uid === own) return (command) => run(command, probeMs);
  const isRoot = own === 0;
  if (!isRoot) throw new NotVerified('only root can act as another account', `Run as ${name}: touch ${folder}/probe`);
  const { gid } = await accountOf(name);
  const become = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--init-groups', '--'] as const;
  return (command) => run([...become, ...command], probeMs);
}

async function outcome(process: Process): Promise<Ran> {
  const [stdout, stderr] = [collect(process.stdout, maxOutputBytes), collect(process.stderr, maxOutputBytes)];
  const timer = setTimeout(() => void process.signal('SIGKILL').catch(() => {}), probeMs);
  try {
    const { exitCode } = await process.exited;
    return { exitCode, stdout: `${stdout()}`, stderr: `${stderr()}` };
  } finally {
    clearTimeout(timer);
  }
}

function cureOf(share: Share, consumer: Consumer, { kind }: Failure): string {
  if (kind === 'missing') return mountCure(share, consumer);
  const again = `carrel share add ${share.name} ${share.folder} --at ${consumerText(consumer)}`;
  const where = consumer.kind === 'person' ? '' : `=${consumer.path}`;
  if (kind === 'unexpected') return `Mount it read-only; ${renderCure(share, consumer) ?? 'restart the sandbox'}`;
  if (consumer.kind === 'docker' && consumer.uid === null)
    return `Start the container with --group-add ${share.groupId}, or name its uid: ${again}@UID${where}`;
  if (consumer.kind === 'lxc') return `Name the uid inside, if it is not root: ${again}@UID${where}`;
  if (consumer.kind === 'person')
    return `Check that ${consumer.name} may enter the folders above ${share.folder}: namei -l ${share.folder}`;
  return `Look at mode and owner: ls -la ${share.folder}`;
}

function mountCure(share: Share, consumer: Consumer): string {
  const name = sandboxOf(consumer);
  if (name !== null) return `carrel stop ${name}; carrel start ${name}`;
  return renderCure(share, consumer) ?? `ls -ld ${share.folder}`;
}

/** The lines to mount it with. */
function renderCure({ name }: Share, { kind }: Consumer): string | null {
  return kind === 'docker' || kind === 'lxc' ? `carrel share render ${name} --for ${kind}` : null;
}
