/** A search in a large project through the hub, beside plain ripgrep on the host. */
import { run } from '../../src/lib/process/run.ts';
import { isInstalled } from './program.ts';
import { rareWord } from './projects.ts';
import { missing, type Row, row, timesPeer } from './report.ts';
import { elapsed, interleave, summarize } from './sample.ts';
import type { Bench } from './sections.ts';

const longestMs = 120_000;

export async function measureSearch({ options, carrel, projects, signal }: Bench): Promise<Row[]> {
  if (!isInstalled('rg')) return [missing('rg')];
  const folder = await projects.project(options.largeProject);
  const id = await carrel.addProject(folder);
  const few = { project: id, pattern: rareWord, limit: 1000 };
  const taken = await interleave(
    Math.ceil(options.rounds / 2),
    {
      plain: () => elapsed(() => run(['rg', rareWord, folder], longestMs)),
      rare: () => elapsed(() => carrel.callTool('search_text', few)),
      common: () => elapsed(() => carrel.callTool('search_text', { ...few, pattern: 'export' })),
    },
    signal,
  );
  const [plain, rare, common] = [summarize(taken.plain), summarize(taken.rare), summarize(taken.common)];
  const files = `${options.largeProject} files`;
  return [
    row(`rg of a rare word in ${files}`, plain),
    row(`search_text of a rare word in ${files}`, rare, timesPeer(rare, 'plain rg', plain, 1.2)),
    row(
      'search_text, the first 1000 matches of a common word',
      common,
      timesPeer(common, 'plain rg of a rare word', plain),
    ),
  ];
}
