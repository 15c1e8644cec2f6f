/**
 * `enter.js PID PROGRAM…` becomes a daemon in the parent of the user namespace of process PID, the first process of a
 * sandbox. If the kernel refuses, the daemon gets a new namespace: it cannot reach the running sandboxes then, and
 * `carrel doctor` reports it.
 */
import { enterNamespaceAt, namespaceArgs } from '../../lib/sys/namespace.ts';
import { becomeProgram, parentUserNamespace } from '../../lib/sys/sys-process.ts';

const [pid, ...program] = process.argv.slice(2);
const log = process.env.CARREL_LOG_FD === undefined ? [] : [Number(process.env.CARREL_LOG_FD)];
const users = usersOf(Number(pid));
const joined = users === null ? null : enterNamespaceAt(users);
becomeProgram([...namespaceArgs(process.getuid?.() ?? 0, joined), ...program], users === null ? log : [...log, users]);

function usersOf(init: number): number | null {
  try {
    return parentUserNamespace(init);
  } catch {
    return null;
  }
}
