/** Rows about the ids that sandboxes run with, from the texts of /proc/self/uid_map, /etc/subuid and similar files. */
import { type IdMapping, outsideId, parseIdMap } from '../../../../lib/sys/id-map.ts';
import type { ProbeRow } from '../../engine.ts';
import { failure, ok, warning } from '../../probe-row.ts';
import type { IdSpace } from '../ids.ts';

/** The lines of a file of /etc whose fields are separated by colons. */
function rowsOf(text: string): string[][] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(':'));
}

export function accountOf(passwd: string, uid: number): string | null {
  return rowsOf(passwd).find((fields) => Number(fields[2]) === uid)?.[0] ?? null;
}

export interface IdTexts {
  readonly space: IdSpace;
  readonly uidMap: string;
  readonly gidMap: string;
  readonly subuid: string;
  readonly subgid: string;
  readonly passwd: string;
}

const name = 'subordinate-ids';

export function idRangeRow(texts: IdTexts): ProbeRow {
  return texts.space.rootless ? lentRow(texts) : ownRow(texts);
}

/** The row for root: its ids must not belong to any account. */
function ownRow({ space, subuid, subgid }: IdTexts): ProbeRow {
  const end = space.base + space.count;
  const lent = [...rowsOf(subuid), ...rowsOf(subgid)];
  const taken = lent.find(([, start, count]) => Number(start) < end && Number(start) + Number(count) > space.base);
  const detail = `${space.perUser} ids for each of ${Math.floor(space.count / space.perUser)} users, from ${space.base}`;
  if (!taken) return ok(name, detail);
  return warning(
    name,
    `${detail}; /etc/subuid or /etc/subgid lends some of them to ${taken[0]}`,
    `Give ${taken[0]} a range below ${space.base}.`,
  );
}

function lentRow({ space, uidMap, gidMap, subuid, passwd }: IdTexts): ProbeRow {
  const [uids, gids] = [uidMap, gidMap].map((text) => parseIdMap(text).filter(({ inside }) => inside > 0));
  const count = Math.min(total(uids!), total(gids!));
  const users = Math.floor(count / space.perUser);
  const outer = outsideId(parseIdMap(uidMap), 0) ?? 0;
  const account = accountOf(passwd, outer) ?? String(outer);
  const hint = `As root: usermod --add-subuids ${freeRange(subuid)} --add-subgids ${freeRange(subuid)} ${account}; then carrel down.`;
  if (count === 0) return failure(name, `no ids are lent to ${account}`, hint);
  const detail = `${count} ids from ${uids![0]!.outside}, room for ${users} ${users === 1 ? 'user' : 'users'}`;
  return users > 0 ? ok(name, detail) : failure(name, `${detail}: a user needs ${space.perUser}`, hint);
}

function total(map: readonly IdMapping[]): number {
  return map.reduce((sum, { size }) => sum + size, 0);
}

/** The first range of the usual size after all ranges that are taken. */
function freeRange(subuid: string): string {
  const ends = rowsOf(subuid).map(([, start, count]) => Number(start) + Number(count));
  const start = Math.max(100_000, ...ends.filter(Number.isFinite));
  return `${start}-${start + 65_535}`;
}

/** Programs that let an ordinary user map more ids than their own. */
export function idProgramsRow(paths: Readonly<Record<'newuidmap' | 'newgidmap', string | null>>): ProbeRow {
  const missing = Object.entries(paths).flatMap(([program, path]) => (path === null ? [program] : []));
  if (missing.length === 0) return ok('newuidmap', `${paths.newuidmap} and ${paths.newgidmap}`);
  return failure(
    'newuidmap',
    `${missing.join(' and ')} not installed`,
    'Install uidmap (Debian, Ubuntu) or shadow-utils (Fedora) or shadow (Arch).',
  );
}
