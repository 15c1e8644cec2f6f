/**
 * Entry of the proxy process; CARREL_HOME names its installation. A daemon starts it in a mount namespace of its own, and it
 * continues without the daemon; it exits when it has neither sandboxes nor a daemon.
 */
import { chmodSync, constants, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { OwnLog } from '../../../lib/file/own-log.ts';
import { tryLock } from '../../../lib/sys/sys.ts';
import { detachMount } from '../../../lib/sys/sys-mount.ts';
import { asFault } from '../../../model/fault.ts';
import {
  controlVersion,
  type ProxyAnswer,
  proxyFiles,
  readLines,
  type SentOrder,
  sendLine,
  socketIn,
} from '../control.ts';
import { createForwarder } from '../credential/forwarder.ts';
import { systemLookUp } from '../lookup.ts';
import { SandboxAttachments } from './attachments.ts';
import { Front } from './front/front.ts';
import { NamespaceSockets } from './socket/namespace-sockets.ts';

/** How long the proxy runs without sandboxes. */
const idleMs = { alone: 1500, withDaemon: 60_000 } as const;
const lookMs = 500;
const takenExit = 6;

const home = process.env.CARREL_HOME;
if (!home?.startsWith('/')) throw new Error('CARREL_HOME must be an absolute path');
const folder = join(home, 'network');
const path = join(folder, proxyFiles.socket);

process.umask(0o077);
const log = new OwnLog(join(folder, proxyFiles.log));
process.on('uncaughtException', (error) => {
  try {
    log.write(`${new Date().toISOString()} uncaught: ${error.stack}\n`);
  } catch {
    // A full disk does not end the proxy, ignoring.
  }
});
// The lock is held until this process ends.
mkdirSync(folder, { recursive: true, mode: 0o700 });
const lock = openSync(join(folder, proxyFiles.lock), constants.O_RDWR | constants.O_CREAT, 0o600);
if (!tryLock(lock)) process.exit(takenExit);
leaveMounts(home);

void NamespaceSockets.open().then(serve);

function serve(sockets: NamespaceSockets): void {
  const forwarder = createForwarder();
  const attachments = new SandboxAttachments({
    ...{ sockets, forwarder },
    front: new Front(forwarder),
    lookUp: systemLookUp,
    serial: counter(),
  });
  let daemon: Socket | null = null;
  let idleSinceMs = Date.now();
  const control = createServer((socket) => {
    // The newest connection is that of the daemon that is alive.
    daemon?.destroy();
    daemon = socket;
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      if (daemon === socket) daemon = null;
    });
    readLines(socket, (line) => void obey(attachments, line as SentOrder).then((answer) => sendLine(socket, answer)));
  });
  rmSync(path, { force: true });
  control.listen({ path: socketIn(folder).path }, () => chmodSync(path, 0o600));
  setInterval(() => {
    if (!attachments.isIdle) idleSinceMs = Date.now();
    else if (Date.now() - idleSinceMs > (daemon === null ? idleMs.alone : idleMs.withDaemon)) leave();
  }, lookMs);
}

async function obey(attachments: SandboxAttachments, order: SentOrder): Promise<ProxyAnswer> {
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

/**
 * Unmounts the mounts of the daemon, which were copied into this namespace and would stay mounted as long as the proxy
 * lives.
 */
function leaveMounts(below: string): void {
  const points = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => line.split(' '))
    .map((fields) => ({ place: unescaped(fields[4] ?? ''), isStage: fields.includes('carrel-stage') }))
    .filter(({ place, isStage }) => isStage || place.startsWith(`${below}/`));
  for (const { place } of points.reverse()) detachMount(place);
}

/** Decodes a path of mountinfo, which has spaces and backslashes in octal. */
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
