/** The docker engine beside `docker` itself, on one dockerd. */
import { Carrel } from './carrel.ts';
import { missing, type Row, row, timesPeer } from './report.ts';
import { firstOf, interleave, wholeOf } from './sample.ts';
import type { Bench } from './sections.ts';

const promised = 1.15;

export async function measureDocker({ options, docker, cleanup, signal }: Bench): Promise<Row[]> {
  if (typeof docker === 'string') return [missing('docker', docker)];
  const carrel = await Carrel.open(cleanup, docker.dockerd);
  const started = await interleave(options.rounds, { docker: docker.run, carrel: () => carrel.run() }, signal);
  const commands = await interleave(Math.ceil(options.rounds / 2), { carrel: () => carrel.command() }, signal);
  await carrel.removeAll();
  const name = await carrel.idle();
  const run = await interleave(options.rounds, { docker: docker.exec, carrel: () => carrel.exec(name) }, signal);
  await carrel.remove([name]);
  const [first, whole] = [firstOf(started.carrel), wholeOf(run.carrel)];
  const [dockerFirst, dockerWhole] = [firstOf(started.docker), wholeOf(run.docker)];
  return [
    row('docker run → first output', dockerFirst),
    row('create → first output, on docker', first, timesPeer(first, 'docker run', dockerFirst, promised)),
    row(
      'carrel run -- true on docker, the whole command',
      wholeOf(commands.carrel),
      timesPeer(wholeOf(commands.carrel), 'docker run', wholeOf(started.docker)),
    ),
    row('docker exec → exit', dockerWhole),
    row('exec → exit, on docker', whole, timesPeer(whole, 'docker exec', dockerWhole, promised)),
  ];
}
