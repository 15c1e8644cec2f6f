/** Changes of one or more sandboxes that were taken over into a project, in one go. */
export interface Apply {
  readonly id: string;
  readonly project: string;
  /** In the order they were merged. */
  readonly sandboxes: readonly { readonly id: string; readonly name: string }[];
  readonly createdAt: string;
  /** `begun` until the project has all of it or none, `undoing` until that is taken back. */
  readonly state: 'begun' | 'done' | 'undoing' | 'undone' | 'failed';
}
