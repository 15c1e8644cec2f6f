/**
 * Renders a fleet as a docker-compose.yml that runs without Carrel: a hub with every project, and a spoke for each sandbox with
 * its own project. Pure: the same declaration gives the same text.
 *
 * Each spoke shares a network with the hub only, so spokes cannot reach each other. Services are hardened like sandboxes of the
 * docker engine, except for the seccomp filter, which is Docker's default. The first lines of the file list what a compose
 * file cannot express.
 */
import { baseImageName } from '../model/image.ts';
import {
  type ComposeContext,
  frontNetwork,
  hub,
  hubImage,
  hubPort,
  joinsHub,
  networkName,
  ownServices,
  prepare,
  spoke,
  volumesOf,
} from './compose-service.ts';
import { type Mapping, yamlLines } from './compose-text.ts';
import type { Declaration, DeclaredSandbox, Problem } from './fleet.ts';
import { problem, refusal } from './problem.ts';

export function compose(fleet: Declaration, context: ComposeContext): string {
  refuseUnfit(fleet);
  const joined = fleet.sandboxes.filter(joinsHub);
  const services = {
    ...(joined.length === 0 ? {} : { hub: hub(fleet, context) }),
    prepare: prepare(fleet, context),
    ...Object.fromEntries(fleet.sandboxes.map((sandbox) => [sandbox.name, spoke(sandbox, fleet, context)])),
  };
  const secrets = [...new Set(fleet.sandboxes.flatMap((sandbox) => sandbox.secrets))];
  return [
    ...preface(fleet),
    'services:',
    ...Object.entries(services).flatMap(([name, service]) => ['', ...yamlLines({ [name]: service }, 1)]),
    ...section('networks', networks(joined)),
    ...section('volumes', Object.fromEntries(volumesOf(fleet, context).map((name) => [name, { name }]))),
    ...section('secrets', Object.fromEntries(secrets.map((name) => [name, { file: `./secrets/${name}` }]))),
    '',
  ].join('\n');
}

function refuseUnfit({ sandboxes }: Declaration): void {
  if (sandboxes.length === 0) throw refusal([problem('invalid', [], 'there is no sandbox to render')]);
  const taken = sandboxes.filter(({ name }) => ownServices.includes(name));
  if (taken.length > 0) throw refusal(taken.map(takenName));
}

function takenName({ name }: DeclaredSandbox): Problem {
  const message = `${name} is the name of a service that every compose file has`;
  return problem('conflict', ['sandboxes', name], message, 'Choose another name.');
}

function networks(joined: readonly DeclaredSandbox[]): Mapping {
  if (joined.length === 0) return {};
  const own = joined.map((sandbox) => [networkName(sandbox), { internal: true }]);
  return { [frontNetwork]: {}, ...Object.fromEntries(own) };
}

const unreviewed =
  '# Agents work on the real folders: nothing is reviewed before it is applied, unlike with carrel up.';
const unreachable =
  '# Spokes reach the hub and nothing else: a compose file cannot express `network`, credentials and services.';

function reachesMore({ network, credentials, services }: DeclaredSandbox): boolean {
  return credentials.length + services.length > 0 || Array.isArray(network);
}

function preface({ name, sandboxes }: Declaration): string[] {
  const reviewed = sandboxes.some((sandbox) => joinsHub(sandbox) && sandbox.mode !== 'bind');
  return [
    `# The fleet ${name}, rendered by carrel compose. To start it: docker-compose -p ${name} up -d`,
    '#',
    ...(sandboxes.some(joinsHub) ? aboutHub(name, sandboxes) : []),
    `# carrel image build builds ${baseImageName}.`,
    '# Services run as uid 1000: it has to own the projects and be able to read each ./secrets/NAME, which holds the value.',
    ...(reviewed ? [unreviewed] : []),
    ...(sandboxes.some(reachesMore) ? [unreachable] : []),
    '',
  ];
}

function aboutHub(fleet: string, sandboxes: readonly DeclaredSandbox[]): string[] {
  const names = sandboxes.map(({ name }) => name).join(' ');
  return [
    `# The hub, at 127.0.0.1:${hubPort}, has all projects under /workspaces; each spoke has its own at /workspace and waits for the hub.`,
    `# Provide the image ${hubImage} yourself; carrel does not build it. It needs node, and its command, run as uid 1000,`,
    `# has to serve /health and /mcp at port ${hubPort}.`,
    '# To start the spokes without a hub:',
    `#   docker-compose -p ${fleet} up prepare && docker-compose -p ${fleet} up -d --no-deps ${names}`,
  ];
}

function section(name: string, content: Mapping): string[] {
  return Object.keys(content).length === 0 ? [] : ['', ...yamlLines({ [name]: content })];
}
