/** The three kinds of rows a probe can give. A row that is not ok says what to do about it. */
import type { ProbeRow } from '../engine.ts';

export function ok(name: string, detail: string): ProbeRow {
  return { name, level: 'ok', detail, cure: null };
}

export function warning(name: string, detail: string, cure: string): ProbeRow {
  return { name, level: 'warning', detail, cure };
}

export function failure(name: string, detail: string, cure: string): ProbeRow {
  return { name, level: 'failure', detail, cure };
}
