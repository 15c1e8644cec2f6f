import { notStarted } from '../../../kernel/engine/exit.ts';
import { Fault } from '../../../model/fault.ts';
import type { Sandbox } from '../model.ts';

/** Does not suggest a start if the command could not be started: it would fail again. */
export function notRunning({ name, status }: Sandbox): Fault {
  const hint =
    status.exitCode === notStarted
      ? `Its command could not be started; see: carrel logs ${name}`
      : `Start it with: carrel start ${name}`;
  return new Fault('not_ready', `${name} is not running`, { hint });
}
