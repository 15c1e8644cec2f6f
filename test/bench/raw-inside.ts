/**
 * The bare runtime beside Carrel: the same bundle, with the same namespaces, mounts, control groups and seccomp
 * profile, run by the runtime alone. The process lives in namespaces like the daemon's, where such a bundle can be
 * made, and takes orders from the bench over its channel: `run` and `exec` answer with a Timing.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, openSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { removeParent } from '../../src/kernel/engine/local/cgroup.ts';
import { openContext, runtimeArgs } from '../../src/kernel/engine/local/context.ts';
import { removeEverything } from '../../src/kernel/engine/local/end.ts';
import { identityOf } from '../../src/kernel/engine/local/ids.ts';
import { chooseRuntime } from '../../src/kernel/engine/local/runtime/runtime.ts';
import { maxProcesses, processSpec, runtimeSpec } from '../../src/kernel/engine/local/runtime/spec.ts';
import { openStage, stage } from '../../src/kernel/engine/local/stage/stage.ts';
import { initMount } from '../../src/kernel/engine/local/start.ts';
import { composeLaunch } from '../../src/noun/sandbox/launch/launch.ts';
import { samplePlaces } from '../fixtures/places.ts';
import { timeProgram } from './program.ts';
import { record } from './record.ts';
import type { Timing } from './sample.ts';

export type RawOrder = 'run' | 'exec';
export type RawAnswer = { readonly runtime: string } | { readonly timing: Timing } | { readonly error: string };

const folder = process.argv[2]!;
const places = samplePlaces(folder);
const command = ['echo', 'ready'];

openStage();
const context = openContext({ folder: join(folder, 'engine'), installation: basename(folder) });
const runtime = chooseRuntime(null);
const runtimeCommand = [runtime.path, ...runtimeArgs(context, runtime.name)] as [string, ...string[]];

/** Makes a bundle whose sources stay staged until this process ends. */
async function makeBundle(id: string, args: readonly string[]): Promise<string> {
  const bundle = context.layout.run(id);
  const { parent, byGroup } = context.cgroups;
  const cgroupsPath = parent === null ? null : join(parent, id);
  const launch = await composeLaunch(record(id, args), { slot: 0, console: false, held: [] }, places);
  const identity = identityOf(0, context.space);
  const mounts = [...launch.mounts, initMount(context.layout)];
  const staged = await stage({ ...launch, identity, mounts, ownerNamespace: async () => null, rootless: false });
  const spec = runtimeSpec({ launch, identity, ...staged, byGroup, cgroupsPath, arch: process.arch, annotations: {} });
  const inside = processSpec({
    ...launch,
    args: command,
    terminal: null,
    maxProcesses: maxProcesses(launch.limits, byGroup),
  });
  mkdirSync(bundle);
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec));
  writeFileSync(join(bundle, 'process.json'), JSON.stringify(inside));
  return bundle;
}

const once = await makeBundle('once', command);
const live = await makeBundle('live', []);
startLive();

function startLive(): void {
  // Stdin is never /dev/null: crun would change its owner to the sandbox's.
  const output = openSync(join(live, 'output'), 'w');
  const [file, ...args] = [...runtimeCommand, 'run', '--detach', '--bundle', live, 'live'];
  const { status } = spawnSync(file!, args, { stdio: ['pipe', output, output] });
  if (status !== 0) throw new Error(`${runtime.name} run --detach exited with ${status}`);
}

let runs = 0;
const orders: { readonly [order in RawOrder]: () => Promise<Timing> } = {
  run: () => timeProgram([...runtimeCommand, 'run', '--bundle', once, `once-${++runs}`]),
  exec: () => timeProgram([...runtimeCommand, 'exec', '--process', join(live, 'process.json'), 'live']),
};

async function close(): Promise<void> {
  const begun = readdirSync(context.layout.state(runtime.name));
  for (const id of new Set([...begun, 'live', 'once'])) await removeEverything(context, id);
  removeParent(context.cgroups);
  await rm(folder, { recursive: true, force: true });
  process.exit(0);
}

const answer = (value: RawAnswer) => process.send!(value);

process.on('message', (order: RawOrder) => {
  orders[order]().then(
    (timing) => answer({ timing }),
    (error: Error) => answer({ error: error.message }),
  );
});
// Ctrl-C reaches the whole process group; the bench decides when this process ends.
process.on('SIGINT', () => {});
process.on('disconnect', () => void close());
answer({ runtime: runtime.name });
