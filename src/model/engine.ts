/** The engines by name, and what every engine knows of a terminal. */

export const engineNames = ['local', 'docker'] as const;

export type EngineName = (typeof engineNames)[number];

/** OCI runtimes, in order of preference. */
export const runtimeNames = ['crun', 'runc', 'runsc', 'sysbox-runc'] as const;

export type RuntimeName = (typeof runtimeNames)[number];

export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}
