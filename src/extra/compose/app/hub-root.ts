/**
 * The image of the hub that `carrel compose` renders: the Node that runs this daemon, Carrel's programs, and the tools for the containers of
 * projects. There is no shell in it.
 */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findProgram } from '../../../kernel/engine/local/runtime/runtime.ts';
import { dist, packageFolder, programFile } from '../../../lib/file/package.ts';
import { packageFolders } from '../../../lib/file/package-folders.ts';
import { Fault } from '../../../model/fault.ts';
import type { RootImage, RootMember } from '../../../noun/image/root/root.ts';
import { languageServers } from '../../../noun/sandbox/tools/tools.ts';
import { linkedOf, requireLibraries } from '../linked.ts';
import { hubImageName, hubToolsPath } from '../model.ts';

const carrel = 'usr/lib/carrel';
const tools = hubToolsPath.slice(1);
const node = `${hubToolsPath}/node`;
const spoke = 'carrel-spoke';
/**
 * Each is a script and what loads it. Their code caches are left out: they differ from build to build and would change
 * the image.
 */
const scripts = ['job-thread', 'room-thread', 'carrel'].flatMap((name) => [
  `program/${name}.js`,
  `program/${name}.script.js`,
]);
const programs = ['build.json', 'LICENSES', 'program/hub-container.js', ...scripts];
/** The packages that the build does not bundle, except those that a hub without sandboxes does not load. */
const packages = ['better-sqlite3', 'koffi', `@koromix/koffi-linux-${process.arch}`, '@modelcontextprotocol/server'];
/** Sources, and what only the installation of a package needs. */
const unneeded = /\.(map|md|[cm]?ts|cc?|hh?|S|asm|inc|def|o|a|gypi?|d)$|^(deps|build\/Release\/(obj|test_))/;
const installers = ['prebuild-install'];

const emptyFolders = ['home/agent', 'tmp', 'run/carrel'];

const settings = [
  'USER 1000:1000',
  'WORKDIR /home/agent',
  'EXPOSE 3000',
  `ENV PATH=/usr/bin HOME=/home/agent CARREL_HOME=/home/agent/.carrel LD_LIBRARY_PATH=${hubToolsPath}/node/lib`,
  'ENTRYPOINT ["/usr/bin/node", "/usr/lib/carrel/dist/program/hub-container.js"]',
];

export async function hubRoot(): Promise<RootImage> {
  if (!existsSync(programFile('hub-container')))
    throw new Fault('unsupported', 'this checkout is not built', { hint: 'Run ./setup.' });
  const modules = modulesOf();
  const members = [...accounts, ...carrelFiles(), ...modules, ...(await runtime(modules)), ...toolFiles()];
  return { name: hubImageName, members, emptyFolders, settings };
}

const accounts: readonly RootMember[] = [
  text('etc/passwd', 'root:x:0:0:root:/:/\nagent:x:1000:1000:agent:/home/agent:/\n'),
  text('etc/group', 'root:x:0:\nagent:x:1000:\n'),
  text('etc/nsswitch.conf', 'passwd: files\ngroup: files\nhosts: files dns\n'),
];

function carrelFiles(): RootMember[] {
  const command = readFileSync(join(packageFolder, 'bin/carrel'), 'utf8');
  return [
    file(`${carrel}/package.json`, join(packageFolder, 'package.json')),
    ...programs.map((path) => file(`${carrel}/dist/${path}`, join(dist, path))),
    // There is no `env` in the image.
    text(`${carrel}/bin/carrel`, command.replace(/^#!.*/, '#!/usr/bin/node --'), 0o755),
    { path: 'usr/bin/carrel', target: `/${carrel}/bin/carrel` },
    { path: 'usr/bin/node', target: `${node}/node` },
  ];
}

function modulesOf(): RootMember[] {
  const folders = [...packageFolders(packages, installers)];
  return folders.flatMap(([name, folder]) =>
    filesBelow(folder)
      .filter((path) => !unneeded.test(path))
      .map((path) => file(`${carrel}/node_modules/${name}/${path}`, join(folder, path))),
  );
}

/** Node and ripgrep with their libraries, in one folder that can be used in any root filesystem. */
async function runtime(modules: readonly RootMember[]): Promise<RootMember[]> {
  const own = realpathSync(process.execPath);
  const linked = await requireLibraries(own);
  const search = findProgram('rg');
  const searchLinked = search === null ? null : await requireLibraries(search);
  // Some addons are for another libc and are not loaded.
  const addons = modules.flatMap((one) => ('from' in one && one.path.endsWith('.node') ? [one.from] : []));
  const all = [linked, ...(searchLinked ? [searchLinked] : []), ...(await Promise.all(addons.map(linkedOf)))];
  const libraries = new Map(all.flatMap((one) => one.libraries).map((path) => [basename(path), realpathSync(path)]));
  return [
    file(`${tools}/node/node`, own, 0o755),
    text(`${tools}/bin/node`, started('node', linked.loader), 0o755),
    ...(search === null ? [] : searchFiles(search, searchLinked!.loader)),
    ...[...libraries].map(([name, path]) => file(`${tools}/node/lib/${name}`, path, 0o755)),
    ...(linked.loader === null ? [] : loaderFiles(linked.loader)),
  ];
}

function searchFiles(program: string, loader: string | null): RootMember[] {
  return [
    file(`${tools}/node/rg`, realpathSync(program), 0o755),
    text(`${tools}/path/rg`, started('rg', loader), 0o755),
  ];
}

function loaderFiles(loader: string): RootMember[] {
  const path = `${tools}/node/lib/${basename(loader)}`;
  return [file(path, realpathSync(loader), 0o755), { path: loader.slice(1), target: `/${path}` }];
}

/** Starts the program with its own libraries, whatever the root filesystem around it has. */
function started(program: string, loader: string | null): string {
  const load = loader === null ? '' : `${node}/lib/${basename(loader)} --library-path ${node}/lib `;
  return `#!/bin/sh\nexec ${load}${node}/${program} "$@"\n`;
}

/** Programs of the project's own image come first on the PATH. */
const launcher = `#!/bin/sh
export PATH="$PATH:${hubToolsPath}/path" CARREL_NODE=${hubToolsPath}/bin/node
exec ${hubToolsPath}/bin/node ${hubToolsPath}/bin/lib/${spoke}.js "$@"
`;

function toolFiles(): RootMember[] {
  const servers = languageServers().flatMap((mount) => (mount.kind === 'bind' ? [mount] : []));
  return [
    text(`${tools}/bin/carrel-spoke`, launcher, 0o755),
    file(`${tools}/bin/lib/${spoke}.js`, programFile(spoke)),
    text(`${tools}/bin/lib/package.json`, '{"type":"module"}\n'),
    ...servers.flatMap(({ source, target }) => serverFiles(source, target.slice(1))),
  ];
}

function serverFiles(source: string, target: string): RootMember[] {
  // Declarations are sources, but for a TypeScript server they are the library.
  const left = target.includes('/@typescript/') ? /\.(map|md)$/ : /\.(map|md|[cm]?ts)$/;
  const paths = filesBelow(source).filter((path) => !left.test(path));
  return paths.map((path) => file(`${target}/${path}`, join(source, path), modeOf(join(source, path))));
}

/** Regular files, by name, so that the same files give the same image. */
function filesBelow(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return names.filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile());
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o100 ? 0o755 : 0o644;
}

function file(path: string, from: string, mode = 0o644): RootMember {
  return { path, mode, from };
}

function text(path: string, content: string, mode = 0o644): RootMember {
  return { path, mode, text: content };
}
