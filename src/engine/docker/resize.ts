/** The size of a terminal that the engine holds. */
import { type Connection, statusOf } from './connection.ts';

export type Resize = (rows: number, columns: number) => Promise<void>;

const againMs = 200;

/** The conmon behind Podman may take the first of two sizes that come at once for both, so the last one is said again. */
export function saidAgain(resize: Resize): Resize {
  let timer: NodeJS.Timeout | undefined;
  return async (rows, columns) => {
    clearTimeout(timer);
    await resize(rows, columns);
    timer = setTimeout(() => void resize(rows, columns).catch(() => {}), againMs).unref();
  };
}

/** Of the sandbox's own command. */
export function resizeContainer(connection: Connection, container: string): Resize {
  return saidAgain(async (rows, columns) => {
    try {
      await connection.find((docker) => docker.getContainer(container).resize({ h: rows, w: columns }));
    } catch (error) {
      if (!isResized(error) && !isOver(error)) throw error;
    }
  });
}

/** As Podman says that it was done. */
export function isResized(error: unknown): boolean {
  return statusOf(error) === 201;
}

/** The process has ended meanwhile. */
export function isOver(error: unknown): boolean {
  return /stopped container|not running|already finished|can only resize/.test((error as Error).message);
}
