/** The sections of the bench. Each returns rows of the report. */
import { measureApply } from './apply.ts';
import { measureBackup } from './backup.ts';
import { measureBranch } from './branch.ts';
import type { Carrel } from './carrel.ts';
import type { Cleanup } from './cleanup.ts';
import { measureCode } from './code.ts';
import type { Docker } from './docker.ts';
import { measureFiles } from './files.ts';
import { measureFork } from './fork.ts';
import { measureHub } from './hub.ts';
import { availableMb, idleCosts, residentOf } from './memory.ts';
import { measureNetwork } from './network.ts';
import { measureNotes } from './notes.ts';
import { measureDocker } from './on-docker.ts';
import type { Options, Section } from './options.ts';
import { measurePrepare } from './prepare.ts';
import { output } from './program.ts';
import type { Projects } from './projects.ts';
import { insideArgv, type Raw } from './raw.ts';
import { atMost, missing, type Row, row, timesPeer } from './report.ts';
import { measureReview } from './review.ts';
import { measureRooms } from './rooms.ts';
import { elapsed, firstOf, interleave, type Measure, summarize, wholeOf } from './sample.ts';
import { measureSearch } from './search.ts';
import { measureSessions } from './sessions.ts';
import { measureStall } from './stall.ts';
import { measureSwarm } from './swarm.ts';
import { measureTerminal } from './terminal.ts';

export interface Bench {
  readonly options: Options;
  readonly carrel: Carrel;
  readonly raw: Raw;
  readonly bwrap: Measure | null;
  /** The reason if Docker is missing. */
  readonly docker: Docker | string;
  readonly projects: Projects;
  /** For resources that a section opens itself. */
  readonly cleanup: Cleanup;
  readonly signal: AbortSignal;
}

export const measureSection: { readonly [S in Section]: (bench: Bench) => Promise<Row[]> } = {
  start: measureStart,
  exec: measureExec,
  docker: measureDocker,
  command: measureCommand,
  burst: measureBurst,
  many: measureMany,
  swarm: measureSwarm,
  prepare: measurePrepare,
  files: measureFiles,
  review: measureReview,
  apply: measureApply,
  branch: measureBranch,
  stall: measureStall,
  fork: measureFork,
  backup: measureBackup,
  network: measureNetwork,
  code: measureCode,
  search: measureSearch,
  hub: measureHub,
  rooms: measureRooms,
  sessions: measureSessions,
  memory: measureNotes,
  terminal: measureTerminal,
};

const dockerMeasure = (docker: Docker | string, verb: 'run' | 'exec'): Measure | null =>
  typeof docker === 'string' ? null : docker[verb];

async function measureStart({ options, carrel, raw, bwrap, docker, signal }: Bench): Promise<Row[]> {
  const taken = await interleave(
    options.rounds,
    { raw: raw.run, carrel: () => carrel.run(), bwrap, docker: dockerMeasure(docker, 'run') },
    signal,
  );
  const rawFirst = firstOf(taken.raw);
  const dockerFirst = taken.docker.length > 0 ? firstOf(taken.docker) : null;
  const first = firstOf(taken.carrel);
  return [
    row(`${raw.name} run → first output`, rawFirst),
    bwrap ? row('bwrap → first output', firstOf(taken.bwrap)) : missing('bwrap'),
    dockerFirst ? row('docker run → first output', dockerFirst) : missing('docker', String(docker)),
    row('carrel create → first output', first, [
      ...timesPeer(first, `${raw.name} run`, rawFirst, 1.3),
      ...timesPeer(first, 'docker run', dockerFirst),
    ]),
  ];
}

async function measureExec({ options, carrel, raw, docker, signal }: Bench): Promise<Row[]> {
  const name = await carrel.idle();
  const taken = await interleave(
    options.rounds,
    { raw: raw.exec, carrel: () => carrel.exec(name), docker: dockerMeasure(docker, 'exec') },
    signal,
  );
  await carrel.remove([name]);
  const rawWhole = wholeOf(taken.raw);
  const dockerWhole = taken.docker.length > 0 ? wholeOf(taken.docker) : null;
  const whole = wholeOf(taken.carrel);
  return [
    row(`${raw.name} exec → first output`, firstOf(taken.raw)),
    row(`${raw.name} exec → exit`, rawWhole),
    dockerWhole ? row('docker exec → exit', dockerWhole) : missing('docker', String(docker)),
    row('carrel exec → first output', firstOf(taken.carrel)),
    row('carrel exec → exit', whole, [
      ...timesPeer(whole, `${raw.name} exec`, rawWhole, 1.2),
      ...timesPeer(whole, 'docker exec', dockerWhole, 1 / 5),
    ]),
  ];
}

async function measureCommand({ options, carrel, signal }: Bench): Promise<Row[]> {
  const { command } = await interleave(Math.ceil(options.rounds / 2), { command: () => carrel.command() }, signal);
  await carrel.removeAll();
  const whole = wholeOf(command);
  return [row('carrel run -- true, the whole command', whole, [atMost(whole, 90)])];
}

async function measureBurst({ options, carrel, signal }: Bench): Promise<Row[]> {
  const created: number[] = [];
  const removed: number[] = [];
  for (let count = 0; count < options.bursts; count += 1) {
    signal.throwIfAborted();
    let names: string[] = [];
    created.push(
      await elapsed(async () => {
        names = await carrel.burst(options.burstSize);
      }),
    );
    removed.push(await elapsed(() => carrel.remove(names)));
  }
  const [total, gone] = [summarize(created), summarize(removed)];
  return [
    row(`burst of ${options.burstSize} sandboxes`, total, [atMost(total, 1500)]),
    row(`removing ${options.burstSize} sandboxes`, gone, timesPeer(gone, 'creating them', total, 1)),
  ];
}

async function measureMany(bench: Bench): Promise<Row[]> {
  const { options, carrel, raw, signal } = bench;
  const { few, many } = options;
  const rounds = Math.ceil(options.rounds / 2);
  const among = () => interleave(rounds, { raw: raw.run, carrel: () => carrel.run() }, signal);
  const names = await carrel.fill(few, signal);
  const amongFew = await among();
  const before = availableMb();
  const createdMs = await elapsed(async () => names.push(...(await carrel.fill(many - few, signal))));
  const machineMb = (before - availableMb()) / (many - few);
  const amongMany = await among();
  const first = firstOf(amongMany.carrel);
  const rows = [
    row(`${raw.name} run, ${few} live`, firstOf(amongFew.raw)),
    row(`${raw.name} run, ${many} live`, firstOf(amongMany.raw)),
    row(`create → first output, ${few} live`, firstOf(amongFew.carrel)),
    row(
      `create → first output, ${many} live`,
      first,
      timesPeer(first, `with ${few} live`, firstOf(amongFew.carrel), 1.2),
    ),
    await measureList(bench),
    await measureSweep(bench),
    ...memoryRows(carrel, machineMb),
  ];
  const removedMs = await elapsed(() => carrel.remove(names));
  const [created, removed] = [summarize([createdMs / (many - few)]), summarize([removedMs / many])];
  return [
    ...rows,
    row(`creating ${many - few} sandboxes, each`, created),
    row(`removing ${many} sandboxes, each`, removed, timesPeer(removed, 'creating', created, 1)),
  ];
}

async function measureList({ options, carrel }: Bench): Promise<Row> {
  const samples: number[] = [];
  for (let count = 0; count < options.rounds; count += 1) samples.push(await carrel.listMs());
  const summary = summarize(samples);
  return row(`GET /v1/sandboxes, ${options.many} live`, summary, [atMost(summary, 20)]);
}

async function measureSweep({ options, carrel }: Bench): Promise<Row> {
  const { records, rounds } = options;
  const argv = insideArgv('sweep-inside.js', carrel.home, String(records), String(rounds));
  const summary = summarize(JSON.parse(await output(argv)) as number[]);
  return row(`reconcile ${records} sandboxes, nothing to do`, summary, [atMost(summary, 60)]);
}

function memoryRows(carrel: Carrel, machineMb: number): Row[] {
  const costs = idleCosts(carrel.home);
  const rss = summarize(costs.map(({ rssMb }) => rssMb));
  const megabytes = (what: string, summary: Row['summary'], checks: Row['checks'] = []): Row => ({
    ...row(what, summary, checks),
    unit: 'MB',
  });
  return [
    megabytes('idle sandbox: keeper and init, RSS', rss, [atMost(rss, 3.5)]),
    megabytes('idle sandbox: keeper and init, PSS', summarize(costs.map(({ pssMb }) => pssMb))),
    megabytes('idle sandbox: of the whole machine', summarize([machineMb])),
    megabytes('the daemon, RSS', summarize([residentOf(carrel.daemonPid).rssMb])),
  ];
}
