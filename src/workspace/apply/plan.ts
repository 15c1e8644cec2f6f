/** What an apply does, as data: decided once, shown to its owner, and then done exactly so or not at all. */
import type { BytePath } from '../../model/byte-path.ts';
import type { PlannedPath } from '../../model/change.ts';
import type { Owner } from '../tree/held.ts';
import type { Source } from '../tree/reader.ts';
import type { Stamp } from './stamp.ts';

/** `old` is what has to be there; null: nothing. */
export type Step =
  /** A file or link. */
  | { readonly do: 'remove'; readonly path: BytePath; readonly old: Stamp }
  /** `kept`: stays without complaint if somebody puts something there. */
  | { readonly do: 'rmdir'; readonly path: BytePath; readonly old: Stamp; readonly kept: boolean }
  | { readonly do: 'mkdir'; readonly path: BytePath; readonly old: Stamp | null; readonly make: NewFolder }
  | { readonly do: 'file'; readonly path: BytePath; readonly old: Stamp | null; readonly make: NewFile }
  /** Another name of what a step before this one makes at `to`, or, where `was` is given, of what the project has there. */
  | {
      readonly do: 'hardlink';
      readonly path: BytePath;
      readonly old: Stamp | null;
      readonly to: BytePath;
      readonly was: Stamp | null;
      /** Where it cannot have another name. */
      readonly make: NewFile;
    }
  | { readonly do: 'link'; readonly path: BytePath; readonly old: Stamp | null; readonly target: BytePath }
  /** A file or link that an apply took away and kept, at that path. */
  | {
      readonly do: 'restore';
      readonly path: BytePath;
      readonly old: Stamp | null;
      readonly kept: string;
      readonly was: Stamp;
    }
  | { readonly do: 'chmod'; readonly path: BytePath; readonly old: Stamp; readonly mode: number };

export interface NewFile {
  /** 0o777 at most. */
  readonly mode: number;
  readonly sizeBytes: number;
  readonly source: Source;
  /** What was judged, where the content was; null: nobody looked inside. */
  readonly sha256: string | null;
}

export interface NewFolder {
  readonly mode: number;
  /** Null: as the project itself. */
  readonly owner: Owner | null;
}

export interface Plan {
  readonly paths: readonly PlannedPath[];
  /** A conflict or a gate stands in the way: nothing is done. */
  readonly blocked: boolean;
  /** In the order they are done. */
  readonly steps: readonly Step[];
}
