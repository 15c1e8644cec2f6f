/** The author of commits. */
export interface Author {
  readonly name: string;
  readonly email: string;
}

/** A name or an address that a commit can contain. */
export const authorPattern = /^[^\x00-\x1f\x7f<>]{1,200}$/;
