/** What happens when the reader of stdout closes the pipe: by default the command ends quietly. */
let react: () => void = () => process.exit(0);

/** As a shell reports it for a command that was cut short. */
export const brokenPipeExit = 141;

/** A command that leaves something behind takes care of it first. */
export function onBrokenPipe(handler: () => void): void {
  react = handler;
}

export function brokenPipe(): void {
  react();
}
