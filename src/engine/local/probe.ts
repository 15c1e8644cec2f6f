import type { ProbeRow } from '../engine.ts';
import type { Context } from './context.ts';

export async function probe(_context: Context): Promise<readonly ProbeRow[]> {
  return [];
}
