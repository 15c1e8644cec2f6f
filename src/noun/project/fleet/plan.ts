/** Compares the declaration with the observed state and returns the steps between them. Pure. */
import { declarable } from '../../grant-table.ts';
import type {
  Declaration,
  DeclaredSandbox,
  Existing,
  ExistingSandbox,
  FleetRequest,
  PlannedFleet,
  PlanStep,
  Problem,
} from './fleet.ts';
import { differences, isOf, marksOf } from './mark.ts';
import { unwatchSteps, watchProblems, watchSteps } from './watch.ts';

type ByName = ReadonlyMap<string, ExistingSandbox>;

export function plan(declared: Declaration, existing: Existing): PlannedFleet {
  const { name: fleet, sandboxes } = declared;
  const there: ByName = new Map(existing.sandboxes.map((sandbox) => [sandbox.name, sandbox]));
  const taken = sandboxes.filter(({ name }) => isTaken(fleet, there.get(name)));
  const free = sandboxes.filter((sandbox) => !taken.includes(sandbox));
  const steps = free.map((sandbox) => stepsFor(fleet, sandbox, there.get(sandbox.name)));
  const same = free.filter((_, index) => steps[index]!.length === 0).map(({ name }) => name);
  return {
    steps: [
      ...volumeSteps(declared, existing),
      ...roomSteps(declared, existing),
      ...steps.flat(),
      ...watchSteps(fleet, declared.watches, existing),
      ...unwatchSteps(fleet, declared.watches, existing),
      ...removals(declared, existing),
    ],
    same,
    completed: same.filter((name) => there.get(name)!.state === 'completed'),
    problems: [
      ...unsetSecrets(declared, existing),
      ...taken.map(({ name }) => takenName(fleet, name)),
      ...watchProblems(fleet, declared.watches, existing, new Set(sandboxes.map(({ name }) => name))),
    ],
  };
}

function isTaken(fleet: string, found: ExistingSandbox | undefined): boolean {
  return found !== undefined && !isOf(fleet, found);
}

/** No steps: the sandbox is as declared. */
function stepsFor(fleet: string, declared: DeclaredSandbox, found: ExistingSandbox | undefined): PlanStep[] {
  const { name } = declared;
  if (!found) return [{ act: 'create', name, request: requestOf(fleet, declared) }];
  const { id, state } = found;
  const differ = differences(found, declared);
  if (differ.length > 0) {
    return [{ act: 'replace', name, id, state, differences: differ, request: requestOf(fleet, declared) }];
  }
  // A completed sandbox is not run again.
  const start: PlanStep[] = state === 'failed' || state === 'stopped' ? [{ act: 'start', name, state }] : [];
  return [...networkSteps(declared, found), ...start];
}

function networkSteps({ name, network }: DeclaredSandbox, { allow }: ExistingSandbox): PlanStep[] {
  if (network === null) return [];
  const wanted = network === 'none' ? [] : network;
  const more = wanted.filter((rule) => !allow.includes(rule));
  const less = allow.filter((rule) => !wanted.includes(rule));
  return more.length + less.length === 0 ? [] : [{ act: 'network', name, allow: more, deny: less }];
}

function volumeSteps({ volumes }: Declaration, existing: Existing): PlanStep[] {
  const missing = volumes.filter((volume) => !existing.volumes.includes(volume));
  return missing.length === 0 ? [] : [{ act: 'init-volumes', volumes: missing }];
}

function roomSteps({ rooms: named, sandboxes }: Declaration, existing: Existing): PlanStep[] {
  const wanted = new Set([...named, ...sandboxes.flatMap(({ rooms }) => rooms.map(({ room }) => room))]);
  const missing = [...wanted].filter((room) => !existing.rooms.includes(room));
  return missing.length === 0 ? [] : [{ act: 'init-rooms', rooms: missing }];
}

function removals({ name: fleet, sandboxes }: Declaration, existing: Existing): PlanStep[] {
  const declared = new Set(sandboxes.map(({ name }) => name));
  const gone = existing.sandboxes.filter((sandbox) => isOf(fleet, sandbox) && !declared.has(sandbox.name));
  return gone.map(({ name, id, state }) => ({ act: 'remove', name, id, state }));
}

function unsetSecrets({ secrets }: Declaration, existing: Existing): Problem[] {
  return secrets.flatMap((secret, index) => {
    if (existing.secrets.includes(secret)) return [];
    const hint = `carrel secret set ${secret}`;
    return [{ code: 'not_found', place: ['secrets', index], message: `the secret ${secret} is not set`, hint }];
  });
}

function takenName(fleet: string, name: string): Problem {
  return {
    code: 'conflict',
    place: ['sandboxes', name],
    message: `a sandbox ${name} exists that the fleet ${fleet} did not create`,
    hint: `Declare it under another name, or remove the other one: carrel rm ${name}`,
  };
}

function requestOf(fleet: string, sandbox: DeclaredSandbox): FleetRequest {
  const {
    name,
    project,
    mode,
    base,
    engine,
    runtime,
    image,
    command,
    env,
    secrets,
    credentials,
    services,
    network,
    limits,
  } = sandbox;
  return {
    name,
    engine,
    mode,
    ...(project === null || mode === 'none' ? {} : { project: project.path }),
    ...(base === 'live' ? {} : { base }),
    ...(runtime === null ? {} : { runtime }),
    ...(image === null ? {} : { image }),
    command: [...command],
    env: { ...env },
    secrets: [...secrets],
    credentials: [...credentials],
    services: [...services],
    ...(network === null ? {} : { network: network === 'none' ? network : [...network] }),
    ...Object.fromEntries(
      declarable.flatMap(({ field, key }) => (sandbox[key].length === 0 ? [] : [[field, [...sandbox[key]]]])),
    ),
    limits,
    labels: marksOf(fleet, sandbox),
  };
}
