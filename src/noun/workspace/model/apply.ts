/** One apply: changes of one or more sandboxes that were taken over into a project together. */
export interface Apply {
  readonly id: string;
  readonly project: string;
  /** In the order they were merged. */
  readonly sandboxes: readonly { readonly id: string; readonly name: string }[];
  readonly createdAt: string;
  /** `begun` until the project has all changes or none, `undoing` until the undo is complete. */
  readonly state: 'begun' | 'done' | 'undoing' | 'undone' | 'failed';
}
