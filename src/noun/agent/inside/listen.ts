/** Listens on an abstract socket: it has no file, one process can hold it, and it ends with that process. */
import { createServer, type Server, type Socket } from 'node:net';

/** Null: another process holds the socket. */
export function listen(name: string, onConnection: (socket: Socket) => void): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true }, onConnection);
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(error);
    });
    server.listen(name, () => resolve(server));
  });
}
