/**
 * Becomes a daemon in the user namespace that that of another process, the first one of a sandbox, was made in:
 * `enter.js PID PROGRAM…`. Where the kernel does not let us, in one of its own: then the sandboxes that live cannot be
 * reached, and `carrel doctor` says so.
 */
import { enterNamespaceAt, namespaceArgs } from '../lib/namespace.ts';
import { becomeProgram, parentUserNamespace } from '../lib/sys-process.ts';

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
