/**
 * What crun would do for every sandbox anew and need not. Where one of these does not work, crun does it as ever: that is
 * slower, and nothing else.
 */
import { closeSync, constants, openSync, readFileSync, realpathSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '../../lib/crash-point.ts';
import { isErrno } from '../../lib/file.ts';
import { SysError } from '../../lib/sys.ts';
import { bindMount } from '../../lib/sys-mount.ts';
import { findProgram } from './runtime.ts';

/**
 * Makes the program read-only in our mount namespace. What runs inside might otherwise write to it while it enters a
 * sandbox, so crun would make itself such a mount, start anew from it and take it away again, at every call.
 */
export function shieldCrun(): void {
  const path = findProgram('crun');
  if (path === null) return;
  const real = realpathSync(path);
  const fd = openSync(real, 'r');
  try {
    bindMount(fd, real, { readonly: true, ownersFd: null });
  } catch (error) {
    // Then crun does it, ignoring.
    if (!(error instanceof SysError)) throw error;
  } finally {
    closeSync(fd);
  }
}

/** Takes milliseconds to compile and is the same for every sandbox. */
export class CompiledFilter {
  #bytes: Buffer | null = null;

  /** The filter as crun takes it instead of compiling its own. One that does not know this compiles the profile as ever. */
  get annotations(): Readonly<Record<string, string>> {
    return this.#bytes === null ? {} : { 'run.oci.seccomp_bpf_data': this.#bytes.toString('base64') };
  }

  /** From what crun keeps of a sandbox that it has compiled the filter for. */
  learn(stateFolder: string): void {
    this.#bytes ??= readBytes(join(stateFolder, 'seccomp.bpf'));
  }
}

/** Null where this crun keeps it elsewhere. */
function readBytes(path: string): Buffer | null {
  try {
    const bytes = readFileSync(path);
    return bytes.length > 0 ? bytes : null;
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return null;
    throw error;
  }
}

/**
 * What `crun start` does, without starting crun: the command waits at a pipe, whose name says that it does. The name goes
 * last, so that a crash in between leaves something that can be done again. False where there is no such pipe.
 */
export function letGo(stateFolder: string): boolean {
  const path = join(stateFolder, 'exec.fifo');
  try {
    const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      writeSync(fd, Buffer.alloc(1));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) return false;
    // Nobody waits there: it has gone already.
    if (!isErrno(error, 'ENXIO') && !isErrno(error, 'EPIPE')) throw error;
  }
  crashPoint('start:let-go');
  rmSync(path, { force: true });
  return true;
}
