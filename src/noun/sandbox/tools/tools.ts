/**
 * The folder of programs that sandboxes mount: files of the build, and scripts that start them. It is a copy, so that
 * an installation can be updated while sandboxes run. Its name is a digest of its content, and it is made once.
 */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { syncFolder, syncTree } from '../../../lib/file/file.ts';
import { programFile } from '../../../lib/file/package.ts';
import { packageFolders } from '../../../lib/file/package-folders.ts';
import type { Mount } from '../../../model/mount.ts';
import { adapterPath, preparedSettings, terminalAgentPath } from '../../agent/model/agent.ts';
import { configurePath, mcpAppliedName, mcpListPath } from '../../agent/model/mcp.ts';
import { grantTable } from '../../grant-table.ts';
import { idlePath, languageServersPath, spokePath } from '../../hub/model/spoke.ts';
import { agentApiPath } from '../../session/model/session.ts';

/** Programs with a script of their name that starts them with Node. */
const launched: readonly string[] = [
  ...[adapterPath, spokePath, agentApiPath].map((path) => basename(path)),
  ...grantTable.flatMap(([, { server }]) => (server ? [server.program] : [])),
  ...['demo-agent', 'demo-acp'],
];

/** Programs that scripts of their name run before something else. */
const [terminalProgram, configureProgram] = [terminalAgentPath, configurePath].map((path) => basename(path)) as [
  string,
  string,
];
const programs: readonly string[] = [...launched, terminalProgram, configureProgram];

/** The file of a program inside. */
function insideFile(name: string): string {
  return `/opt/carrel/bin/lib/${name}.js`;
}

const idle = '#!/bin/sh\nexec sleep infinity\n';

/** A script that starts a program with Node, which it searches only in folders that no agent can write. */
function launcher(name: string): string {
  return `#!/bin/sh
for node in ${process.execPath} /opt/carrel/node /usr/local/bin/node /usr/bin/node; do
  [ -x "$node" ] && exec "$node" ${insideFile(name)} "$@"
done
echo "$0: there is no Node.js in this sandbox" >&2
exit 3
`;
}

/**
 * Prepares the agent's settings if they changed, as Node takes time to start, then executes the agent's program. Node
 * is last on the PATH, for programs that need it.
 */
const terminalAgent = `#!/bin/sh
settings=$1
shift
[ "$(cat ${preparedSettings} 2>/dev/null)" = "$settings" ] ||
  for node in ${process.execPath} /opt/carrel/node /usr/local/bin/node /usr/bin/node; do
    [ -x "$node" ] && "$node" ${insideFile(terminalProgram)} "$settings" && break
  done
export PATH="$PATH:/opt/carrel"
exec "$@"
`;

/**
 * Writes the MCP servers of the sandbox into the files of agents if the list changed, then executes the command.
 * Without Node in the image nothing is written.
 */
const configure = `#!/bin/sh
if [ "$(cat /.data/${mcpAppliedName} 2>/dev/null)" != "$(cat ${mcpListPath} 2>/dev/null)" ]; then
  for node in ${process.execPath} /opt/carrel/node /usr/local/bin/node /usr/bin/node; do
    [ -x "$node" ] && "$node" ${insideFile(configureProgram)} && break
  done
  cat ${mcpListPath} > /.data/${mcpAppliedName}
fi
exec "$@"
`;

let known: string | undefined;

export function toolsName(): string {
  known ??= digest();
  return known;
}

export function prepareTools(folder: string): void {
  const target = join(folder, toolsName());
  if (existsSync(target)) return;
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const temporary = mkdtempSync(join(folder, 'new-'));
  mkdirSync(join(temporary, 'lib'));
  for (const name of programs) copyFileSync(programFile(name), join(temporary, 'lib', `${name}.js`));
  for (const name of launched) writeFileSync(join(temporary, name), launcher(name), { mode: 0o755 });
  writeFileSync(join(temporary, basename(idlePath)), idle, { mode: 0o755 });
  writeFileSync(join(temporary, basename(configurePath)), configure, { mode: 0o755 });
  writeFileSync(join(temporary, basename(terminalAgentPath)), terminalAgent, { mode: 0o755 });
  writeFileSync(join(temporary, 'lib/package.json'), '{"type":"module"}\n');
  chmodSync(temporary, 0o755);
  // The folder is made only once: without fsync a power cut could leave empty programs for good.
  syncTree(temporary);
  renameSync(temporary, target);
  syncFolder(folder);
}

/** Removes other versions. Call it only while no sandbox runs, as one could have them mounted. */
export function sweepTools(folder: string): void {
  if (!existsSync(folder)) return;
  const others = readdirSync(folder).filter((name) => name !== toolsName());
  for (const name of others) rmSync(join(folder, name), { recursive: true, force: true });
}

function digest(): string {
  const hash = createHash('sha256').update(idle).update(terminalAgent).update(configure);
  for (const name of launched) hash.update(launcher(name));
  for (const name of programs) hash.update(readFileSync(programFile(name)));
  return hash.digest('hex').slice(0, 16);
}

const serverPackages = [
  `@typescript/typescript-linux-${process.arch}`,
  'pyright',
  'bash-language-server',
  'yaml-language-server',
];

let serverMounts: readonly Mount[] | undefined;

/** Mounts the language servers that come with Carrel: the folders of their packages and dependencies. */
export function languageServers(): readonly Mount[] {
  serverMounts ??= [...packageFolders(serverPackages)].map(([name, source]) => {
    return { kind: 'bind', source, target: `${languageServersPath}/node_modules/${name}`, readonly: true };
  });
  return serverMounts;
}
