/** A container that Carrel did not make, as an engine sees it. */

/** The observed state of the sandbox of a container. */
export type ObservedContainer =
  | { readonly kind: 'absent' | 'waiting' | 'running' | 'paused' }
  | {
      readonly kind: 'exited';
      readonly exitCode: number | null;
      readonly signal: string | null;
      readonly outOfMemory: boolean;
    };
