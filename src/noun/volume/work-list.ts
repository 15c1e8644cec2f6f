/** The running backups and restores, and how far each is. */
import type { Volume } from './model.ts';

export interface VolumeWork extends Pick<Volume, 'name' | 'type' | 'user'> {
  /** Null: not a named volume. */
  readonly label: string | null;
  /** The path of the archive. */
  readonly file: string;
  readonly doing: 'packing' | 'checking' | 'unpacking';
  /** Bytes of the archive that were written or read so far. */
  readonly bytes: number;
  /** Null: not known yet. */
  readonly totalBytes: number | null;
}

/** Called with the number of bytes since the last call. */
export type OnProgress = (bytes: number) => void;

export class WorkList {
  readonly #all = new Set<VolumeWork>();

  get all(): readonly VolumeWork[] {
    return [...this.#all];
  }

  async during<T>(begun: Omit<VolumeWork, 'bytes'>, act: (onProgress: OnProgress) => Promise<T>): Promise<T> {
    const work = { ...begun, bytes: 0 };
    this.#all.add(work);
    try {
      return await act((bytes) => {
        work.bytes += bytes;
      });
    } finally {
      this.#all.delete(work);
    }
  }
}
