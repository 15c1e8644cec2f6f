/** Constructs what the memory bank needs. */
import { join } from 'node:path';
import type { ConfiguredKernel } from '../../../../kernel/daemon/resources.ts';
import type { Actor } from '../../../../model/user.ts';
import { userHash, volumeName } from '../../../volume/model.ts';
import type { Volumes } from '../../../volume/volumes.ts';
import { openBanks } from '../../bank/banks.ts';
import { damagedHistories } from '../../bank/history/bank-database.ts';
import { LiveBanks } from './live-banks.ts';
import { SandboxBank, type SandboxBankParts } from './sandbox-bank.ts';
import { UserBank } from './user-bank.ts';

export function openLiveBanks(
  { home, config, store, report }: ConfiguredKernel,
  agentOf: (user: string) => number | null,
): LiveBanks {
  const volumeOf = (user: string) => volumeName(config.volumePrefix, 'memory-bank', user);
  return new LiveBanks({
    banks: openBanks(),
    volumeOf,
    placeOf: (user) => ({
      files: home.volume(volumeOf(user)),
      folder: historyFolder(home.home, user),
      ownerId: agentOf(user),
    }),
    limits: () => config.memory.bank,
    sandboxes: (user) =>
      store
        .list('sandbox')
        .map(({ value }) => value)
        .filter(({ spec }) => user === null || spec.user === user),
    report,
    nowMs: () => performance.now(),
  });
}

function historyFolder(home: string, user: string): string {
  return join(home, 'memory-bank', userHash(user));
}

export function sandboxBank(
  { store, liveBanks }: ConfiguredKernel & { readonly liveBanks: LiveBanks },
  sessionOf: SandboxBankParts['sessionOf'],
): SandboxBank {
  return new SandboxBank({
    find: (id) => store.get('sandbox', id)?.value ?? null,
    open: (user) => liveBanks.open(user),
    plainWriter: (user) => liveBanks.plainWriter(user),
    sessionOf,
  });
}

interface UserParts extends ConfiguredKernel {
  readonly liveBanks: LiveBanks;
  readonly volumes: Volumes;
}

export function bankOf({ name: user }: Actor, { home, now, liveBanks, volumes }: UserParts): UserBank {
  return new UserBank(user, {
    banks: liveBanks,
    prepare: () => void volumes.init(user, now()),
    damaged: () => damagedHistories(historyFolder(home.home, user)),
  });
}
