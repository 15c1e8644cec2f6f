/** Probes whether each consumer of a share sees the folder, and names the side that fails and a hint. */

import { ForeignContainer } from '../../../kernel/engine/docker/foreign/foreign-container.ts';
import type { Process } from '../../../kernel/engine/engine.ts';
import { findProgram } from '../../../kernel/engine/local/runtime/runtime.ts';
import type { Kernel } from '../../../kernel/kernel.ts';
import { collect } from '../../../lib/process/collect.ts';
import { type Ran, run } from '../../../lib/process/run.ts';
import { outsideId, readIdMap } from '../../../lib/sys/id-map.ts';
import { asFault } from '../../../model/fault.ts';
import type { Sandbox } from '../../sandbox/model.ts';
import type { VerdictView } from '../api.ts';
import { type Consumer, consumerText, isOutside, parseConsumer, type Share } from '../model.ts';
import { type Failure, probe, type RunAs } from '../probe.ts';
import { accountOf } from './account.ts';
import type { Observer } from './observe.ts';
import { findShare, noConsumer, type ShareRow } from './record.ts';

export interface VerifyParts extends Pick<Kernel, 'store' | 'engineOf'> {
  readonly user: string;
  readonly observer: Observer;
  readonly dockerSocket: () => string | null;
}

const probeMs = 20_000;
const maxOutputBytes = 64 * 1024;

/** Why a consumer cannot be probed from here, and what can be done instead. */
class NotVerified extends Error {
  readonly hint: string | null;
  constructor(reason: string, hint: string | null) {
    super(reason);
    this.hint = hint;
  }
}

export async function verify(parts: VerifyParts, name: string, requested: string | undefined): Promise<VerdictView[]> {
  const row = findShare(parts.store, parts.user, name);
  const all = parts.observer.consumers(row);
  const wanted = requested === undefined ? null : consumerText(parseConsumer(requested));
  const chosen = all.filter((one) => wanted === null || consumerText(one) === wanted);
  if (chosen.length === 0 && wanted !== null) throw noConsumer(name, wanted, all.map(consumerText));
  const probed = chosen.flatMap((consumer) => probedOf(parts, row, consumer));
  const verdicts: VerdictView[] = [];
  for (const one of probed) verdicts.push(await verdict(parts, row, one));
  return verdicts;
}

/** A consumer and one of its sandboxes; null: it has none yet, or it is outside of Carrel. */
interface Probed {
  readonly consumer: Consumer;
  readonly sandbox: Sandbox | null;
}

/** Each sandbox of a project is probed. */
function probedOf({ observer }: VerifyParts, row: ShareRow, consumer: Consumer): Probed[] {
  const all = isOutside(consumer) ? [] : observer.sandboxes(row, consumer);
  return all.length === 0 ? [{ consumer, sandbox: null }] : all.map((sandbox) => ({ consumer, sandbox }));
}

async function verdict(parts: VerifyParts, row: ShareRow, probed: Probed): Promise<VerdictView> {
  const { consumer, sandbox } = probed;
  const text = consumerText(consumer);
  const path = sandbox?.spec.shares?.find(({ id }) => id === row.id)?.target ?? consumer.path;
  const view = { consumer: consumer.kind === 'project' && sandbox ? `${text} (${sandbox.name})` : text, path };
  try {
    const failure = await probe(row.value, { ...consumer, path }, await runnerOf(parts, row, probed));
    if (failure === null) return { ...view, result: 'verified', side: null, reason: null, hint: null };
    const { side, reason } = failure;
    return { ...view, result: 'failed', side, reason, hint: hintOf(row.value, probed, failure) };
  } catch (error) {
    if (error instanceof NotVerified)
      return { ...view, result: 'not verified', side: null, reason: error.message, hint: error.hint };
    const { message, hint } = asFault(error);
    return { ...view, result: 'failed', side: 'host', reason: message, hint: hint ?? null };
  }
}

async function runnerOf(parts: VerifyParts, { value }: ShareRow, { consumer, sandbox }: Probed): Promise<RunAs> {
  if (!isOutside(consumer)) return inSandbox(parts, consumer, sandbox);
  if (consumer.kind === 'docker') return inContainer(value, consumer, parts.dockerSocket());
  return consumer.kind === 'lxc' ? inGuest(value, consumer) : asPerson(value, consumer);
}

function inSandbox({ engineOf }: VerifyParts, consumer: Consumer, found: Sandbox | null): RunAs {
  if (!found) throw noSandbox(consumer);
  const { state } = found.status;
  if (state !== 'running') throw new NotVerified(`it is ${state}`, `carrel start ${found.name}`);
  return async (command) => {
    const spec = { command, env: {}, cwd: '/', stdin: false, terminal: null };
    const process = await engineOf(found).exec(found.id, found.status.handle, spec);
    process.stdin.end();
    return outcome(process);
  };
}

function noSandbox({ kind, name }: Consumer): NotVerified {
  return kind === 'project'
    ? new NotVerified('there is no sandbox of the project yet', 'The hub starts one when a tool needs it.')
    : new NotVerified('there is no such sandbox', `carrel create --name ${name}`);
}

async function inContainer(share: Share, { name }: Consumer, socket: string | null): Promise<RunAs> {
  const container = new ForeignContainer(name, socket);
  const found = await container.look();
  if (found === null)
    throw new NotVerified('there is no such container', `carrel share render ${share.name} --for docker`);
  if (!found.isRunning) throw new NotVerified('it does not run', `docker start ${name}`);
  return async (command) => outcome(await container.exec(command));
}

/** Runs commands as root of the guest. */
export function inGuest(
  { folder }: Pick<Share, 'folder'>,
  { name, path }: Pick<Consumer, 'name' | 'path'>,
  find = findProgram,
): RunAs {
  const [pct, attach] = [find('pct'), find('lxc-attach')];
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

function hintOf(share: Share, { consumer, sandbox }: Probed, { kind }: Failure): string {
  if (kind === 'missing' || kind === 'sealed') return mountHint(share, consumer, sandbox);
  const again = `carrel share add ${share.name} ${share.folder} --at ${consumerText(consumer)}`;
  const where = consumer.kind === 'person' ? '' : `=${consumer.path}`;
  if (kind === 'unexpected') return `Mount it read-only; ${renderHint(share, consumer) ?? 'restart the sandbox'}`;
  if (consumer.kind === 'docker' && consumer.uid === null)
    return `Start the container with --group-add ${share.groupId}, or name its uid: ${again}@UID${where}`;
  if (consumer.kind === 'lxc') return `Name the uid inside, if it is not root: ${again}@UID${where}`;
  if (consumer.kind === 'person')
    return `Check that ${consumer.name} may enter the folders above ${share.folder}: namei -l ${share.folder}`;
  return `Look at mode and owner: ls -la ${share.folder}`;
}

function mountHint(share: Share, consumer: Consumer, sandbox: Sandbox | null): string {
  if (sandbox !== null) return `carrel stop ${sandbox.name}; carrel start ${sandbox.name}`;
  return renderHint(share, consumer) ?? `ls -ld ${share.folder}`;
}

/** The command that prints how to mount the share. */
function renderHint({ name }: Share, { kind }: Consumer): string | null {
  return kind === 'docker' || kind === 'lxc' ? `carrel share render ${name} --for ${kind}` : null;
}
