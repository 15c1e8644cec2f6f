/**
 * A parent image for machines that reach no registry: the packages of this Debian system that a base needs, as
 * installed. Of /etc it holds only what is public and the same everywhere; nothing of /usr/local, /home and the rest.
 * The checksum changes with the packages and their versions, so an unchanged system gives the same image.
 */
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readIfThere } from '../../../lib/file/file.ts';
import { failed, start } from '../../../lib/process/program.ts';
import { Fault } from '../../../model/fault.ts';
import type { Extra } from '../context/context.ts';
import { foldersOf, packExtras } from '../context/pack.ts';
import { header } from '../context/tar.ts';
import { closure, type Package, parsePackages } from './package.ts';

export interface HostParent {
  /** A checksum of the packages and their versions. */
  readonly checksum: string;
  /** A tar archive of a root filesystem. */
  archive(): AsyncIterable<Buffer>;
}

/** Packages that are included, together with their dependencies and the essential packages of the system. */
const wanted = [
  ...['apt', 'bash', 'ca-certificates', 'debian-archive-keyring', 'git', 'less', 'nodejs', 'npm', 'procps', 'python3'],
  ...['python3-pip', 'python3-venv', 'ripgrep'],
];
const leftOut = /^(etc|usr\/include|usr\/lib\/node_modules\/npm|usr\/share\/(doc|info|lintian|locale|man))(\/.|$)/;
/** Copied as they are, because other programs than packages write their content, too: npm replaces itself. */
const wholeFolders = [
  ...[
    'etc/alternatives',
    'etc/ssl/certs',
    'etc/ssl/openssl.cnf',
    'etc/ld.so.conf',
    'etc/ld.so.conf.d',
    'etc/ld.so.cache',
  ],
  'usr/lib/node_modules/npm',
];
/** Folders that every system has, but that no package contains. */
const folders = ['usr/local/bin', 'usr/local/lib', 'usr/local/sbin', 'usr/local/share'];
const records = 'var/lib/dpkg';
/** Increase it when the same packages must give another archive. */
const formVersion = 1;

/** `node` is the folder of the running Node, which is added if no package contains Node. */
export function hostParent(root = '/', node = dirname(dirname(realpathSync(process.execPath)))): HostParent {
  const status = readIfThere(join(root, records, 'status'));
  if (status === null) {
    throw new Fault('unsupported', 'a parent is made of the packages of a Debian system, and this is none', {
      hint: 'Name an image that the Docker Engine has in config.yaml: docker: {parent: NAME}',
    });
  }
  const packages = parsePackages(status);
  const essential = [...packages.values()].filter((one) => one.essential).map(({ name }) => name);
  const chosen = closure(packages, [...essential, ...wanted]);
  const own = chosen.some(({ name }) => name === 'nodejs') ? null : node;
  const versions = chosen.map(({ name, version }) => `${name}=${version}`);
  return {
    checksum: createHash('sha256')
      .update(JSON.stringify([formVersion, versions, own && process.version]))
      .digest('hex'),
    archive: () => archiveOf(root, chosen, own),
  };
}

async function* archiveOf(root: string, chosen: readonly Package[], node: string | null): AsyncGenerator<Buffer> {
  for (const name of folders.map((path) => Buffer.from(path))) {
    yield* header({ name, kind: 'folder', mode: 0o755, sizeBytes: 0, target: Buffer.alloc(0) });
  }
  const files = newFiles(root, chosen);
  yield* packExtras(files);
  // A path may occur once only.
  const made = new Set([...folders, ...files.flatMap(({ path }) => [path, ...foldersOf(path)])]);
  const paths = pathsOf(root, chosen).filter((path) => !made.has(path));
  const whole = wholeFolders.filter((path) => existsSync(join(root, path)));
  const form = ['--create', '--numeric-owner', '--null', '--verbatim-files-from', '--no-recursion', '--files-from=-'];
  const tar = start(
    ['tar', '--directory', root, ...form, '--recursion', ...whole, ...nodeArguments(node)],
    ['pipe', 'pipe', 'pipe'],
  );
  try {
    tar.child.stdin!.end(paths.join('\0'));
    for await (const chunk of tar.child.stdout!) yield chunk as Buffer;
    const ended = await tar.ended;
    if (ended.exitCode !== 0) throw failed(tar, ended);
  } finally {
    tar.child.kill('SIGKILL');
  }
}

/** Arguments of tar that add Node below /usr/local, where programs without a package belong. */
function nodeArguments(folder: string | null): string[] {
  if (folder === null) return [];
  const paths = ['bin/node', 'bin/npm', 'bin/npx', 'lib/node_modules/npm'].filter((path) =>
    existsSync(join(folder, path)),
  );
  const move = paths.map((path) => `--transform=flags=r;s,^${path}\\(/\\|$\\),usr/local/${path}\\1,`);
  return [...move, '--directory', folder, ...paths];
}

/** The paths of the packages in their real folders, because on most systems /bin is a link to /usr/bin. */
function pathsOf(root: string, chosen: readonly Package[]): string[] {
  const links = new Map(
    readdirSync(root)
      .map((name) => [name, linkAt(root, name)?.replace(/^\//, '') ?? ''] as const)
      .filter(([, target]) => /^usr\/[\w-]+$/.test(target)),
  );
  const real = (path: string) => {
    const [first, ...rest] = path.split('/');
    return [links.get(first!) ?? first, ...rest].join('/');
  };
  const all = chosen.flatMap((one) => listed(root, one)).map((path) => (links.has(path) ? path : real(path)));
  const kept = all.filter((path) => !leftOut.test(path) && lstatSync(join(root, path), { throwIfNoEntry: false }));
  return [...new Set([...links.keys(), ...kept, ...chosenLinks(root, new Set(kept))])].sort();
}

function linkAt(root: string, path: string): string | null {
  const full = join(root, path);
  return lstatSync(full, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(full) : null;
}

/** The links that stand for one of several programs, such as `awk`: no package contains them. */
function chosenLinks(root: string, kept: ReadonlySet<string>): string[] {
  const programs = ['usr/bin', 'usr/sbin'].flatMap((folder) =>
    readdirSync(join(root, folder)).map((name) => `${folder}/${name}`),
  );
  return programs.filter((path) => {
    const choice = linkAt(root, path);
    const program = choice?.startsWith('/etc/alternatives/') ? linkAt(root, choice) : null;
    return program !== null && kept.has(program.replace(/^\//, ''));
  });
}

/** The files of a package, without the leading slash. */
function listed(root: string, { name, architecture }: Package): string[] {
  const folder = join(root, records, 'info');
  const text =
    readIfThere(join(folder, `${name}.list`)) ?? readIfThere(join(folder, `${name}:${architecture}.list`)) ?? '';
  return text.split('\n').flatMap((line) => (line.length > 2 ? [line.slice(1)] : []));
}

/** The records that the package manager inside needs, and the initial accounts. */
function newFiles(root: string, chosen: readonly Package[]): Extra[] {
  const file = (path: string, text: string | Buffer): Extra => ({ path, mode: 0o644, content: Buffer.from(text) });
  const stems = new Set(chosen.flatMap(({ name, architecture }) => [name, `${name}:${architecture}`]));
  const isOfChosen = (name: string) => name === 'format' || stems.has(name.replace(/\.[^.]+$/, ''));
  const info = readdirSync(join(root, records, 'info')).filter(isOfChosen);
  return [
    ...info.map((name) => file(`${records}/info/${name}`, readFileSync(join(root, records, 'info', name)))),
    file(`${records}/status`, chosen.map(({ record }) => `${record.trim()}\n\n`).join('')),
    file('etc/passwd', 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n'),
    file('etc/group', 'root:x:0:\ntty:x:5:\nnogroup:x:65534:\n'),
    file('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
    ...sourcesOf(root).map((text) => file('etc/apt/sources.list', text)),
  ];
}

/** The public package sources of Debian are used, because those of the host may contain passwords. */
function sourcesOf(root: string): string[] {
  const release = readIfThere(join(root, 'usr/lib/os-release')) ?? '';
  const [, name] = /^VERSION_CODENAME="?([a-z]+)"?$/m.exec(release) ?? [];
  if (name === undefined || !/^ID=debian$/m.test(release)) return [];
  const at = (place: string, suite: string) => `deb http://deb.debian.org/${place} ${suite} main\n`;
  return [at('debian', name) + at('debian', `${name}-updates`) + at('debian-security', `${name}-security`)];
}
