import { z } from 'zod';
import { roomNamePattern } from '../model/room.ts';

/** `--room NAME[:ro]`. */
export const roomRequest = z.strictObject({
  room: z.string().regex(roomNamePattern),
  readonly: z.boolean().optional(),
});
