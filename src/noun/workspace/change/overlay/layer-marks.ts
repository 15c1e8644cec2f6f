/** The marks that the kernel leaves in the layers of an overlay. */
import type { Stat } from '../../../../lib/sys/stat.ts';
import { readMark } from '../../../../lib/sys/sys.ts';
import type { WorkspacePlace } from '../../workspace.ts';

export function isWhiteout(stat: Stat): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0n;
}

/** `folder` is a descriptor or a path. */
export function isOpaqueMark({ marks }: WorkspacePlace, folder: number | Buffer): boolean {
  return readMark(folder, `${marks}.overlay.opaque`)?.toString() === 'y';
}

/**
 * The header of an origin mark: version, magic number, length, flags, type, 16 bytes of filesystem id; then the
 * handle.
 */
export const originHead = { type: 4, bytes: 21 } as const;
