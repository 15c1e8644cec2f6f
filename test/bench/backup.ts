/** A backup of a volume beside `tar | zstd` of the same folder into a file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { output } from './program.ts';
import { type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

/** A backup has to reach four fifths of the speed of its peer. */
const promised = 1 / 0.8;
const type = 'memory-bank';

export async function measureBackup({ options, carrel, projects, signal }: Bench): Promise<Row[]> {
  const project = await projects.project(options.largeProject);
  const folder = await carrel.volumeFolder(type);
  await output(['cp', '-a', '--', `${project}/.`, folder], 600_000);
  const plain = projects.path('plain');
  mkdirSync(plain);
  const taken = await interleave(
    options.heavyRounds + 2,
    {
      tar: () => elapsed(() => tarred(folder, join(plain, 'volume.tar.zst'))),
      carrel: () => elapsed(async () => rmSync(await carrel.backup(type))),
    },
    signal,
  );
  const [tar, backup] = [summarize(taken.tar), summarize(taken.carrel)];
  const what = `volume of ${options.largeProject} files`;
  return [
    row(`tar | zstd, ${what}`, tar),
    row(`volume backup, ${what}`, backup, timesPeer(backup, 'tar | zstd', tar, promised)),
  ];
}

async function tarred(folder: string, file: string): Promise<void> {
  const tar = spawn('tar', ['--create', '--directory', folder, '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const zstd = spawn('zstd', ['-T0', '-q', '-c'], { stdio: [tar.stdout!, openSync(file, 'w'), 'inherit'] });
  const codes = await Promise.all([tar, zstd].map((child) => once(child, 'exit')));
  if (codes.some(([code]) => code !== 0)) throw new Error('tar | zstd failed');
}
