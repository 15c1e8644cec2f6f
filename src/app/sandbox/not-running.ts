import { notStarted } from '../../engine/exit.ts';
import { Fault } from '../../model/fault.ts';
import type { Sandbox } from '../../model/sandbox.ts';

/** A command that could not be started fails again if it is started again. */
export function notRunning({ name, status }: Sandbox): Fault {
  const hint =
    status.exitCode === notStarted
      ? `Its command could not be started; see: carrel logs ${name}`
      : `Start it with: carrel start ${name}`;
  return new Fault('not_ready', `${name} is not running`, { hint });
}
