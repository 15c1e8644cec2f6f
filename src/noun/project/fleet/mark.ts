/**
 * Labels of a sandbox: which fleet created it, and its declaration at that time. Fields with their default value are left
 * out, so a field that a later version adds does not make old sandboxes differ.
 */
import { createHash } from 'node:crypto';
import { declarable } from '../../grant-table.ts';
import type { DeclaredSandbox, Difference, ExistingSandbox } from './fleet.ts';

const fleetLabel = 'carrel.fleet';
const declaredLabel = 'carrel.fleet.declared';

type Fields = Readonly<Record<string, string>>;

/** Longer values are stored as a digest, so that all fields fit into a label. */
const longestShown = 100;

export function marksOf(fleet: string, sandbox: DeclaredSandbox): Record<string, string> {
  return { [fleetLabel]: `${fleet}/${sandbox.name}`, [declaredLabel]: JSON.stringify(fieldsOf(sandbox)) };
}

/** The label includes the name of the sandbox, since forks inherit labels. */
export function isOf(fleet: string, { name, labels }: ExistingSandbox): boolean {
  return labels[fleetLabel] === `${fleet}/${name}`;
}

export function differences({ labels }: ExistingSandbox, declared: DeclaredSandbox): Difference[] {
  const [before, after] = [recorded(labels[declaredLabel]), fieldsOf(declared)];
  if (before === null) return [{ field: 'declaration', before: null, after: null }];
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return fields
    .filter((field) => before[field] !== after[field])
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }));
}

function recorded(text: string | undefined): Fields | null {
  try {
    const value: unknown = JSON.parse(text ?? '');
    if (typeof value !== 'object' || value === null) return null;
    return Object.values(value).every((field) => typeof field === 'string') ? (value as Fields) : null;
  } catch {
    return null;
  }
}

function fieldsOf(sandbox: DeclaredSandbox): Fields {
  const { project, mode, base, engine, runtime, image, command, env, secrets, credentials, services, limits } = sandbox;
  const fields: Record<string, string | number | undefined> = {
    project: project?.path,
    mode: mode === (project ? 'overlay' : 'none') ? undefined : mode,
    base: base === 'live' ? undefined : base,
    engine: engine === 'local' ? undefined : engine,
    runtime: runtime ?? undefined,
    image: image ?? undefined,
    command: unlessEmpty(command),
    // A digest, because labels are printed and variables are not.
    env: Object.keys(env).length === 0 ? undefined : digest(JSON.stringify(sorted(env))),
    secrets: unlessEmpty([...secrets].sort()),
    credentials: unlessEmpty([...credentials].sort()),
    services: unlessEmpty([...services].sort()),
    ...Object.fromEntries(declarable.map(({ key, texts }) => [key, unlessEmpty(texts(sandbox[key]))])),
    'limits.cpus': limits.cpus,
    'limits.memory': limits.memoryBytes,
    'limits.swap': limits.swapBytes,
    'limits.pids': limits.pids,
    'limits.disk': limits.diskBytes,
  };
  const declared = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(declared.map(([field, value]) => [field, bounded(String(value))]));
}

function unlessEmpty(list: readonly string[]): string | undefined {
  return list.length === 0 ? undefined : JSON.stringify(list);
}

function sorted(env: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(env).sort(([one], [other]) => (one < other ? -1 : 1));
}

function bounded(text: string): string {
  return text.length <= longestShown ? text : digest(text);
}

function digest(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}
