/** Users. */
import { z } from 'zod';

export const userView = z.strictObject({
  name: z.string(),
  slot: z.int(),
  createdAt: z.string(),
  /** The account whose folders may be projects of this user. */
  uid: z.int().nullable(),
  isOwner: z.boolean(),
  sandboxes: z.int(),
});

export const admission = z.strictObject({
  user: userView,
  /** Shown only in this answer. */
  token: z.string(),
  /** The socket for users with a token; null: `config.yaml` names none. */
  socket: z.string().nullable(),
});

export type Admission = z.output<typeof admission>;
export type UserView = z.output<typeof userView>;
