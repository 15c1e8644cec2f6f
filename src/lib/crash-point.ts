/**
 * A place between two steps where tests end the process as a power cut would. Does nothing unless CARREL_CRASH_AT names it.
 */
export function crashPoint(name: string): void {
  if (process.env.CARREL_CRASH_AT === name) process.kill(process.pid, 'SIGKILL');
}
