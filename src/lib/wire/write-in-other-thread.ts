import { close, openSync, write } from 'node:fs';

/**
 * Writes to an existing file in another thread, and begins at once. `writeFile` of Node would open the file in the
 * other thread, and write only after this thread has returned to its event loop. Resolves to the error, or null.
 */
export function writeInOtherThread(path: string, text: string): Promise<Error | null> {
  return new Promise((resolve) => {
    try {
      const fd = openSync(path, 'r+');
      write(fd, text, (error) => close(fd, () => resolve(error)));
    } catch (error) {
      resolve(error as Error);
    }
  });
}
