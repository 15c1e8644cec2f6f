/**
 * Renders a fleet as a docker-compose.yml that runs without Carrel: a hub, and a spoke for each sandbox with its own project, which dials
 * the hub with a token that the hub writes into a volume of the two (decision 58). Pure: the same declaration gives the same text.
 *
 * Each spoke shares a network with the hub only, so spokes cannot reach each other. Services are hardened like sandboxes of the
 * docker engine, except for the seccomp filter, which is Docker's default. The first lines of the file list what a compose
 * file cannot express.
 */
import { declarable } from '../../noun/grant-table.ts';
import { baseImageName } from '../../noun/image/model.ts';
import {
  type Declaration,
  type DeclaredSandbox,
  type Problem,
  problem,
  type RenderContext,
  refusal,
} from '../../noun/project/fleet/fleet.ts';
import { projectIdPattern } from '../../noun/project/model/project.ts';
import {
  frontNetwork,
  hasProject,
  hub,
  hubPort,
  hubSandboxes,
  networkName,
  ownServices,
  prepare,
  spoke,
  volumesOf,
} from './compose-service.ts';
import { type Mapping, yamlLines } from './compose-text.ts';
import { hubImageName } from './model.ts';

export function compose(fleet: Declaration, context: RenderContext): string {
  refuseUnfit(fleet);
  const spokes = hubSandboxes(fleet);
  const services = {
    ...(spokes.length === 0 ? {} : { hub: hub(fleet, context) }),
    prepare: prepare(fleet, context),
    ...Object.fromEntries(fleet.sandboxes.map((sandbox) => [sandbox.name, spoke(sandbox, fleet, context)])),
  };
  const secrets = [...new Set(fleet.sandboxes.flatMap((sandbox) => sandbox.secrets))];
  return [
    ...preface(fleet),
    'services:',
    ...Object.entries(services).flatMap(([name, service]) => ['', ...yamlLines({ [name]: service }, 1)]),
    ...section('networks', networks(spokes)),
    ...section('volumes', Object.fromEntries(volumesOf(fleet, context).map((name) => [name, { name }]))),
    ...section('secrets', Object.fromEntries(secrets.map((name) => [name, { file: `./secrets/${name}` }]))),
    '',
  ].join('\n');
}

function refuseUnfit(fleet: Declaration): void {
  const { sandboxes } = fleet;
  if (sandboxes.length === 0) throw refusal([problem('invalid', [], 'there is no sandbox to render')]);
  const taken = sandboxes.filter(({ name }) => ownServices.includes(name));
  if (taken.length > 0) throw refusal(taken.map(takenName));
  const long = hubSandboxes(fleet).filter(({ project }) => !projectIdPattern.test(project!.id));
  if (long.length > 0) throw refusal(long.map(({ project }) => tooLong(project!.id)));
}

function tooLong(id: string): Problem {
  return problem('invalid', ['projects', id], `${id} is longer than an id of the hub, which has at most 48 characters`);
}

function takenName({ name }: DeclaredSandbox): Problem {
  const message = `${name} is the name of a service that every compose file has`;
  return problem('conflict', ['sandboxes', name], message, 'Choose another name.');
}

function networks(spokes: readonly DeclaredSandbox[]): Mapping {
  if (spokes.length === 0) return {};
  const own = spokes.map((sandbox) => [networkName(sandbox), { internal: true }]);
  return { [frontNetwork]: {}, ...Object.fromEntries(own) };
}

const unreviewed =
  '# Agents work on the real folders: nothing is reviewed before it is applied, unlike with carrel up.';
/** Volumes are not in this list, because a compose file can express them. */
const inexpressible = declarable.map(({ key }) => key).filter((key) => key !== 'volumes');
const unreachable = `# Spokes reach the hub and nothing else: a compose file cannot express \`network\`, credentials, services, ${inexpressible.join(' and ')}.`;

function reachesMore(sandbox: DeclaredSandbox): boolean {
  const { network, credentials, services } = sandbox;
  const lists = [credentials, services, ...inexpressible.map((key) => sandbox[key])];
  return lists.some(({ length }) => length > 0) || Array.isArray(network);
}

function preface(fleet: Declaration): string[] {
  const { name, sandboxes } = fleet;
  const reviewed = sandboxes.some((sandbox) => hasProject(sandbox) && sandbox.mode !== 'bind');
  return [
    `# The fleet ${name}, rendered by carrel compose. To start it: docker-compose -p ${name} up -d`,
    '#',
    ...(hubSandboxes(fleet).length > 0 ? aboutHub(fleet) : []),
    `# carrel image build builds ${baseImageName}.`,
    '# Services run as uid 1000: it has to own the projects and be able to read each ./secrets/NAME, which holds the value.',
    ...(reviewed ? [unreviewed] : []),
    ...(sandboxes.some(reachesMore) ? [unreachable] : []),
    '',
  ];
}

function aboutHub(fleet: Declaration): string[] {
  const ids = hubSandboxes(fleet).map(({ project }) => project!.id);
  const unserved = Object.keys(fleet.projects).filter((id) => !ids.includes(id));
  const inHub = `docker-compose -p ${fleet.name} exec`;
  return [
    `# carrel image build --hub builds ${hubImageName}: the hub, an MCP server at http://127.0.0.1:${hubPort}/mcp. Each spoke has its project at`,
    '# /workspace and dials the hub. A token for an MCP client, or the command of a client that speaks MCP on stdin and stdout:',
    `#   ${inHub} -T hub carrel hub token --project ${ids.join(',')}`,
    `#   ${inHub} -T hub carrel hub serve`,
    ...(unserved.length > 0 ? [`# Without a sandbox, and so not in the hub: ${unserved.join(', ')}.`] : []),
  ];
}

function section(name: string, content: Mapping): string[] {
  return Object.keys(content).length === 0 ? [] : ['', ...yamlLines({ [name]: content })];
}
