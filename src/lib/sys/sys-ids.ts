/** System calls for the ids of this thread, like those in sys.ts. */
import { libc } from './libc.ts';

const c = {
  setfsuid: libc('int setfsuid(uint32_t uid)'),
  setfsgid: libc('int setfsgid(uint32_t gid)'),
};

/** An invalid id: with it the calls change nothing and return the present id. */
const none = 0xffff_ffff;

/**
 * Runs `work` with the file permissions of another user, without those of root. For synchronous work only: the ids
 * are changed for this thread until it returns.
 */
export function asFileUser<T>({ uid, gid }: { readonly uid: number; readonly gid: number }, work: () => T): T {
  const before = { uid: c.setfsuid(none) as number, gid: c.setfsgid(none) as number };
  c.setfsgid(gid);
  c.setfsuid(uid);
  try {
    if (c.setfsuid(none) !== uid || c.setfsgid(none) !== gid) throw new Error(`cannot use files as uid ${uid}`);
    return work();
  } finally {
    c.setfsuid(before.uid);
    c.setfsgid(before.gid);
  }
}
