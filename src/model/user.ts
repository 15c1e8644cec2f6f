/** An owner of sandboxes. `slot` numbers the users of an installation and picks their range of host uids. */
export interface User {
  readonly name: string;
  readonly slot: number;
  readonly createdAt: string;
}
