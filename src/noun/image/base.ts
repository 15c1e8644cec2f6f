/** The image that all others are built on. */

import type { Extra } from './context/context.ts';
import type { BuildStep } from './dockerfile/dockerfile.ts';
import { baseImageName } from './model.ts';

/** The names by which Dockerfiles refer to it; the second is the name used by aimi. */
export const baseNames: readonly string[] = [baseImageName, 'aimi-sandbox:base'];

/** The Node of Debian 13 is the oldest that is still maintained. */
export const defaultParent = 'debian:trixie-slim';

/** The parent of this name is made of the packages of this machine. */
export const hostParentName = 'host';

const toolFolder = 'tools';

/** Installs only what the parent lacks, so a parent that has everything needs no network. */
const install = `set -eu
missing=
need() { command -v "$1" >/dev/null 2>&1 || missing="$missing $2"; }
need bash bash; need git git; need node nodejs; need npm npm; need python3 python3; need pip3 python3-pip; need rg ripgrep
test -e /etc/ssl/certs/ca-certificates.crt || missing="$missing ca-certificates"
if test -n "$missing"; then
  echo "installing$missing"
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "the parent image has no apt-get to install them with"
    exit 1
  fi
  apt-get update
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing
  rm -rf /var/lib/apt/lists/*
fi`;

/** Removes an account of the parent with the same name or id. */
const account = `set -eu
for file in passwd group; do
  touch /etc/$file
  grep -v -e '^agent:' -e '^[^:]*:[^:]*:1000:' /etc/$file > /etc/$file.carrel || true
done
echo 'agent:x:1000:1000:agent:/home/agent:/bin/bash' >> /etc/passwd.carrel
echo 'agent:x:1000:' >> /etc/group.carrel
for file in passwd group; do cat /etc/$file.carrel > /etc/$file; rm /etc/$file.carrel; done
mkdir -p /home/agent /workspace
chown 1000:1000 /home/agent /workspace
chmod 755 /opt/carrel /opt/carrel/bin`;

export function baseSteps(parent: string, parentId: string): BuildStep[] {
  const step = (title: string, text: string) => ({ title, text, line: 0 });
  const script = (text: string) => `RUN ${JSON.stringify(['/bin/sh', '-c', text])}`;
  return [
    step(`FROM ${parent}`, `FROM ${parentId}`),
    step('USER 0', 'USER 0'),
    step('git, Node, Python and what goes with them', script(install)),
    step('tools in /opt/carrel/bin', `COPY ${toolFolder}/ /opt/carrel/bin/`),
    step('agent, uid 1000', script(account)),
    step('ENV LANG=C.UTF-8', 'ENV LANG=C.UTF-8'),
    step('WORKDIR /workspace', 'WORKDIR /workspace'),
  ];
}

/** `tools` have paths below /opt/carrel/bin. */
export function toolFiles(tools: readonly Extra[]): Extra[] {
  return tools.map((tool) => ({ ...tool, path: `${toolFolder}/${tool.path}` }));
}
