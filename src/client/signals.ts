/**
 * Signal handlers. By default a signal ends the process with the usual code; a command that has to clean up first
 * takes them over for a while. Ending through `process.exit` runs the exit handlers that restore a terminal.
 */
const numbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;
export type Caught = keyof typeof numbers;
type Handler = (signal: Caught) => void;

const handlers: Handler[] = [(signal) => process.exit(128 + numbers[signal])];

export function listenForSignals(): void {
  for (const signal of Object.keys(numbers) as Caught[]) process.on(signal, () => handlers.at(-1)!(signal));
}

/** Handles the signals by `handler` until the returned function is called. */
export function catchSignals(handler: Handler): () => void {
  handlers.push(handler);
  return () => {
    const index = handlers.lastIndexOf(handler);
    if (index > 0) handlers.splice(index, 1);
  };
}
