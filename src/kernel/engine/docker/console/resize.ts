/** The size of a terminal that the engine holds. */
import { type Connection, statusOf } from '../connection/connection.ts';

export type Resize = (rows: number, columns: number) => Promise<void>;

const againMs = 200;

/**
 * Sends one size after the other, because an engine may carry out requests in any order. If two sizes arrive at once,
 * Podman's conmon may apply the first one twice, so the last one is sent again.
 */
export function resizeTwice(resize: Resize): Resize {
  let last = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  return async (rows, columns) => {
    clearTimeout(timer);
    const sent = last.catch(() => {}).then(() => resize(rows, columns));
    last = sent;
    await sent;
    if (last === sent) timer = setTimeout(() => void resize(rows, columns).catch(() => {}), againMs).unref();
  };
}

/** Resizes the terminal of the sandbox's command. */
export function resizeContainer(connection: Connection, container: string): Resize {
  return resizeTwice(async (rows, columns) => {
    try {
      await connection.find((docker) => docker.getContainer(container).resize({ h: rows, w: columns }));
    } catch (error) {
      if (!isResized(error) && !isOver(error)) throw error;
    }
  });
}

/** The error by which Podman reports success. */
export function isResized(error: unknown): boolean {
  return statusOf(error) === 201;
}

/** Whether the error says that the process has ended meanwhile. */
export function isOver(error: unknown): boolean {
  return /stopped container|not running|already finished|can only resize/.test((error as Error).message);
}
