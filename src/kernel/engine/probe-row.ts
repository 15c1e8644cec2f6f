/** The three levels of probe rows. A row that is not ok has a hint. */
import type { Limits } from '../../model/limits.ts';
import type { EngineAbout, ProbeRow } from './engine.ts';

export function ok(name: string, detail: string): ProbeRow {
  return { name, level: 'ok', detail, hint: null };
}

export function warning(name: string, detail: string, hint: string): ProbeRow {
  return { name, level: 'warning', detail, hint };
}

export function failure(name: string, detail: string, hint: string): ProbeRow {
  return { name, level: 'failure', detail, hint };
}

export const limitWords: { readonly [key in keyof Limits]: string } = {
  cpus: 'cpu',
  memoryBytes: 'memory',
  swapBytes: 'swap',
  pids: 'pids',
  diskBytes: 'disk',
};

/** The first failure among the rows: the reason why no sandbox can be started. */
export function refusalIn(rows: readonly ProbeRow[]): EngineAbout['refusal'] {
  const row = rows.find(({ level }) => level === 'failure');
  return row ? { reason: row.detail, hint: row.hint ?? '' } : null;
}
