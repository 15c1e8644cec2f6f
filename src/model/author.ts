/** The author of commits. */
export interface Author {
  readonly name: string;
  readonly email: string;
}

/** What a commit can carry as a name or an address. */
export const authorPattern = /^[^\x00-\x1f\x7f<>]{1,200}$/;
