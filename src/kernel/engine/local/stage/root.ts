/**
 * The root filesystem of a sandbox: a skeleton of mount points, a small /etc made for it, and either the host's
 * programs or a root filesystem of its own.
 */
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Mount } from '../../../../model/mount.ts';
import { accountFiles } from '../../accounts.ts';
import { agentId } from '../ids.ts';

const folders = [
  'dev',
  'etc',
  'home',
  'opt/carrel/bin',
  'proc',
  'run/carrel',
  'sys/devices/system/cpu',
  'tmp',
  'var',
  'usr',
];

/** Folders that hold programs and libraries; links into /usr on most systems. */
const programFolders = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];

/** Parts of the host's /etc that programs under /usr cannot work without; none of them is private. */
const sharedEtcFolders = ['alternatives', 'crypto-policies', 'pki/ca-trust/extracted', 'pki/tls/certs', 'ssl/certs'];
const sharedEtcFiles = ['ld.so.cache', 'localtime', 'protocols', 'services', 'ssl/cert.pem', 'ssl/openssl.cnf'];

/** Mounts that give a sandbox the host's programs, read-only. */
export function hostProgramMounts(host = '/'): Mount[] {
  const real = programFolders.filter((name) => !isLink(join(host, name)));
  const names = ['usr', ...real, ...sharedEtcFolders.map((name) => `etc/${name}`)];
  return names
    .filter((name) => existsSync(join(host, name)))
    .map((name) => ({ kind: 'bind', source: realpathSync(join(host, name)), target: `/${name}`, readonly: true }));
}

export interface Skeleton {
  readonly hostname: string;
  readonly mounts: readonly Mount[];
  /** The host id of root inside, which gets the files and folders. */
  readonly ownerId: number;
  /** The host's programs are mounted, so the links into /usr are needed. */
  readonly hostPrograms: boolean;
}

/** Fills an empty folder. No sandbox can write to it before the start, so plain paths are safe here. */
export function fillSkeleton(root: string, skeleton: Skeleton): void {
  const made = new Set<string>();
  const folder = (path: string) => makeFolder(root, path, made);
  for (const path of folders) folder(path);
  symlinkSync('../tmp', join(root, 'var/tmp'));
  if (skeleton.hostPrograms) linkPrograms(root);
  const etc = { ...(skeleton.hostPrograms ? hostEtcFiles() : {}), ...etcFiles(skeleton.hostname) };
  for (const [name, content] of Object.entries(etc)) {
    folder(dirname(join('etc', name)));
    put(join(root, 'etc', name), content, made);
  }
  for (const mount of skeleton.mounts) {
    if (mount.kind === 'tmpfs') {
      folder(mount.target);
      // runc gives a tmpfs the mode of its mount point.
      chmodSync(join(root, mount.target), mount.mode);
    } else if (mount.kind === 'overlay' || statSync(mount.source).isDirectory()) folder(mount.target);
    else {
      folder(dirname(mount.target));
      put(join(root, mount.target), '', made);
    }
  }
  for (const path of made) chownSync(path, skeleton.ownerId, skeleton.ownerId);
}

function makeFolder(root: string, path: string, made: Set<string>): void {
  if (path === '/' || path === '.') return;
  const full = join(root, path);
  if (made.has(full)) return;
  makeFolder(root, dirname(path), made);
  mkdirSync(full, { mode: 0o755 });
  made.add(full);
}

function put(path: string, content: string | Buffer, made: Set<string>): void {
  if (made.has(path)) return;
  writeFileSync(path, content, { mode: 0o644 });
  made.add(path);
}

function linkPrograms(root: string): void {
  for (const name of programFolders) {
    if (isLink(join('/', name))) symlinkSync(readlinkSync(join('/', name)).replace(/^\//, ''), join(root, name));
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function hostEtcFiles(): Record<string, Buffer> {
  const there = sharedEtcFiles.filter((name) => existsSync(join('/etc', name)));
  return Object.fromEntries(there.map((name) => [name, readFileSync(join('/etc', name))]));
}

function etcFiles(hostname: string): Record<string, string> {
  return {
    ...accountFiles(agentId, agentId),
    hosts: `127.0.0.1 localhost ${hostname}\n::1 localhost ip6-localhost ip6-loopback\n`,
    hostname: `${hostname}\n`,
    'resolv.conf': '# This sandbox has no network.\n',
    'nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n',
    shells: '/bin/sh\n/bin/bash\n',
    profile: 'PS1="\\u@\\h:\\w\\$ "\n',
    ...Object.fromEntries(browsers.map((name) => [`${name}/policies/managed/carrel.json`, browserPolicy])),
  };
}

/** Chromium, Chrome, and Chrome for Testing. */
const browsers = ['chromium', 'opt/chrome', 'opt/chrome_for_testing'];
/**
 * Switches off the encryption of server names: browsers send a fake one even if they do not encrypt, and the proxy
 * refuses that.
 */
const browserPolicy = `${JSON.stringify({ EncryptedClientHelloEnabled: false })}\n`;
