/** The memory bank is scanned when a sandbox starts and when it ends, to notice plain writes to its files. */
import type { SandboxPart } from '../../../sandbox/part/part.ts';
import type { LiveBanks } from './live-banks.ts';

export function bankPart(banks: Pick<LiveBanks, 'provide' | 'conclude'>): SandboxPart {
  return {
    prepare: (sandbox) => banks.provide(sandbox),
    conclude: (sandbox) => banks.conclude(sandbox),
  };
}
