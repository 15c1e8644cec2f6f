/**
 * Shortcuts for work that crun would repeat for every sandbox. If a shortcut does not work, crun does the work itself,
 * only more slowly.
 */
import { closeSync, constants, openSync, readFileSync, realpathSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { isErrno } from '../../../../lib/file/file.ts';
import { crashPoint } from '../../../../lib/flow/crash-point.ts';
import { SysError } from '../../../../lib/sys/sys.ts';
import { bindMount } from '../../../../lib/sys/sys-mount.ts';
import { findProgram } from './runtime.ts';

/**
 * Makes crun read-only in the daemon's mount namespace. Otherwise a process inside could write to the program while
 * crun enters a sandbox, so crun would make such a mount, start again from it and remove it, at every call.
 */
export function shieldCrun(): void {
  const path = findProgram('crun');
  if (path === null) return;
  const real = realpathSync(path);
  const fd = openSync(real, 'r');
  try {
    bindMount(fd, real, { readonly: true, ownersFd: null });
  } catch (error) {
    // Then crun makes the mount itself, ignoring.
    if (!(error instanceof SysError)) throw error;
  } finally {
    closeSync(fd);
  }
}

/** The compiled filter: compiling takes milliseconds, and the result is the same for every sandbox. */
export class CompiledFilter {
  #bytes: Buffer | null = null;

  /** Passes the compiled filter to crun. A crun that does not know this annotation compiles the profile. */
  get annotations(): Readonly<Record<string, string>> {
    return this.#bytes === null ? {} : { 'run.oci.seccomp_bpf_data': this.#bytes.toString('base64') };
  }

  /** Reads the filter from the state that crun keeps of a sandbox. */
  learn(stateFolder: string): void {
    this.#bytes ??= readBytes(join(stateFolder, 'seccomp.bpf'));
  }
}

/** Null: this crun does not keep the filter at that path. */
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
 * Does the work of `crun start` without starting crun: the command waits at a named pipe until a byte is written. The
 * pipe is removed last, so that this can be repeated after a crash. False: there is no such pipe.
 */
export function releaseCommand(stateFolder: string): boolean {
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
    // The pipe has no reader: the command has started already.
    if (!isErrno(error, 'ENXIO') && !isErrno(error, 'EPIPE')) throw error;
  }
  crashPoint('start:let-go');
  rmSync(path, { force: true });
  return true;
}
