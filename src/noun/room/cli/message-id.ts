import { Fault } from '../../../model/fault.ts';
import { printable } from '../../../model/name.ts';
import { ulidPattern } from '../../../model/ulid.ts';
import { messageIdRule } from '../model/room.ts';

/** The value of an option such as `--after`. */
export function checkMessageId(text: string, option: string, room: string): string {
  if (ulidPattern.test(text)) return text;
  throw new Fault('invalid', `${option}: ${printable(text)} is not a message id`, {
    hint: `${messageIdRule} To see them: carrel room read ${room} --peek`,
  });
}
