import { z } from 'zod';
import { roomNamePattern, roomNameRule } from '../model/room.ts';

/** `--room NAME[:ro]`. */
export const roomRequest = z.strictObject({
  room: z.string().regex(roomNamePattern, roomNameRule),
  readonly: z.boolean().optional(),
});
