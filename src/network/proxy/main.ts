/**
 * Entry of the proxy process. CARREL_HOME says whose. It is started by a daemon, in a mount namespace of its own, and
 * goes on without it; it ends when it has neither sandboxes nor a daemon.
 */
import { chmodSync, constants, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { OwnLog } from '../../lib/own-log.ts';
import { tryLock } from '../../lib/sys.ts';
import { detachMount } from '../../lib/sys-mount.ts';
import { asFault } from '../../model/fault.ts';
import { type Answered, type Asked, controlVersion, proxyFiles, readLines, sendLine, socketIn } from '../control.ts';
import { createForwarder } from '../credential/forwarder.ts';
import { systemLookUp } from '../lookup.ts';
import { Attachments } from './attachments.ts';
import { Front } from './front.ts';
import { ThresholdThread } from './threshold.ts';

/** How long it waits when there is nothing to do: for a daemon, and with one for its next sandbox. */
const idleMs = { alone: 1500, withDaemon: 60_000 } as const;
const lookMs = 500;
const takenExit = 6;

const home = process.env.CARREL_HOME;
if (!home?.startsWith('/')) throw new Error('CARREL_HOME must be an absolute path');
const folder = join(home, 'network');

process.umask(0o077);
const log = new OwnLog(join(folder, proxyFiles.log));
process.on('uncaughtException', (error) => {
  try {
    log.write(`${new Date().toISOString()} uncaught: ${error.stack}\n`);
  } catch {
    // A full disk is no reason to end, ignoring.
  }
});
// Held until this process ends, however it ends.
mkdirSync(folder, { recursive: true, mode: 0o700 });
const lock = openSync(join(folder, proxyFiles.lock), constants.O_RDWR | constants.O_CREAT, 0o600);
if (!tryLock(lock)) process.exit(takenExit);
leaveMounts(home);

const forwarder = createForwarder();
const serial = counter();
const threshold = await ThresholdThread.open();
const attachments = new Attachments({
  threshold,
  front: new Front(forwarder),
  forwarder,
  lookUp: systemLookUp,
  serial,
});
let daemon: Socket | null = null;
let idleSinceMs = Date.now();

const control = createServer((socket) => {
  // The newest is the daemon that lives.
  daemon?.destroy();
  daemon = socket;
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    if (daemon === socket) daemon = null;
  });
  readLines(socket, (line) => void obey(line as Asked).then((answer) => sendLine(socket, answer)));
});
const path = join(folder, proxyFiles.socket);
rmSync(path, { force: true });
control.listen({ path: socketIn(folder).path }, () => chmodSync(path, 0o600));
setInterval(() => {
  if (!attachments.isIdle) idleSinceMs = Date.now();
  else if (Date.now() - idleSinceMs > (daemon === null ? idleMs.alone : idleMs.withDaemon)) leave();
}, lookMs);

async function obey(order: Asked): Promise<Answered> {
  const { serial } = order;
  try {
    if (order.verb !== 'hello') await attachments.obey(order);
    else if (order.version !== controlVersion) leave();
    return { serial };
  } catch (error) {
    return { serial, fault: asFault(error).toJSON() };
  }
}

function leave(): void {
  rmSync(path, { force: true });
  process.exit(0);
}

/** What a daemon has mounted for itself would stay mounted for as long as we live. */
function leaveMounts(below: string): void {
  const places = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .map((fields) => ({ place: unescaped(fields[4] ?? ''), isStage: fields.includes('carrel-stage') }))
    .filter(({ place, isStage }) => isStage || place.startsWith(`${below}/`));
  for (const { place } of places.reverse()) detachMount(place);
}

/** Spaces and the like are octal there. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

function counter(): () => string {
  const began = Date.now().toString(36);
  let count = 0;
  return () => {
    count += 1;
    return `${began}.${count}`;
  };
}
