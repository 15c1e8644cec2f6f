/** Called when the reader of stdout closes the pipe; by default the command ends without a message. */
let react: () => void = () => process.exit(0);

/** The exit code that a shell reports for a command ended by SIGPIPE. */
export const brokenPipeExit = 141;

/** For a command that has to clean up before it ends. */
export function onBrokenPipe(handler: () => void): void {
  react = handler;
}

export function brokenPipe(): void {
  react();
}
