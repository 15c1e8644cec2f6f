/**
 * The streams of a process that conmon keeps, over its attach socket. Packets from conmon begin with a byte that names
 * the stream; bytes sent to it go to stdin. Conmon waits for slow readers, and so does the process inside.
 */
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { isErrno } from '../../../lib/file/file.ts';
import { SysError } from '../../../lib/sys/sys.ts';
import { connectSeqpacket, type PacketSocket } from '../../../lib/sys/sys-socket.ts';
import { Fault } from '../../../model/fault.ts';
import type { Console } from '../engine.ts';

const STDOUT = 2;
const STDERR = 3;

/** Larger than any packet of conmon. */
const maxPacketBytes = 8 * 1024;

export function attachConsole(bundle: string): Console {
  const { socket, input, rest } = connect(bundle);
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const resume = () => {
    if (!stdout.writableNeedDrain && !stderr.writableNeedDrain) socket.resume();
  };
  stdout.on('drain', resume);
  stderr.on('drain', resume);
  const take = (packet: Buffer) => {
    const stream = packet[0] === STDERR ? stderr : packet[0] === STDOUT ? stdout : null;
    return stream === null || stream.write(packet.subarray(1));
  };
  socket.on('data', (packet: Buffer) => {
    if (!take(packet)) socket.pause();
  });
  const ended = () => {
    stdout.end();
    stderr.end();
  };
  const drained = () => {
    for (const packet of rest()) take(packet);
    ended();
  };
  socket.on('end', () => {
    drained();
    socket.end();
  });
  socket.on('close', () => {
    ended();
    input.destroy();
  });
  // A keeper that ends during a write counts as an end of the streams.
  socket.on('error', drained);
  input.on('error', () => {});
  socket.resume();
  return {
    stdin: stdinOf(input),
    stdout,
    stderr,
    resize: async (rows, columns) => resize(bundle, rows, columns),
    detach: () => socket.destroy(),
  };
}

/** Connects through the open folder, since the path of a socket is limited to 107 bytes. */
function connect(bundle: string): PacketSocket {
  const folder = openSync(bundle, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return connectSeqpacket(`/proc/self/fd/${folder}/attach`);
  } catch (error) {
    if (error instanceof SysError && error.code === 'EAGAIN') {
      throw new Fault('unavailable', 'too many clients wait for the console of the sandbox', { cause: error });
    }
    if (error instanceof SysError)
      throw new Fault('not_ready', 'the command of the sandbox has ended', { cause: error });
    throw error;
  } finally {
    closeSync(folder);
  }
}

function stdinOf(socket: Socket): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      writePackets(socket, chunk, done);
    },
    final(done) {
      if (socket.destroyed) done();
      else socket.end(() => done());
    },
  });
}

function writePackets(socket: Socket, chunk: Buffer, done: (error?: Error | null) => void): void {
  if (socket.destroyed || !socket.writable) {
    done();
    return;
  }
  const packet = chunk.subarray(0, maxPacketBytes);
  const rest = chunk.subarray(maxPacketBytes);
  socket.write(packet, () => (rest.length > 0 ? writePackets(socket, rest, done) : done()));
}

function resize(bundle: string, rows: number, columns: number): void {
  try {
    const fd = openSync(join(bundle, 'winsz'), constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      // Padded to the length of one read of conmon: if one read contains two sizes, older versions apply the first one
      // twice.
      writeSync(fd, `${`${rows} ${columns}`.padEnd(198)}\n`);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    // The pipe has no reader: the process has ended, ignoring.
    if (!['ENXIO', 'EPIPE', 'ENOENT'].some((code) => isErrno(error, code))) throw error;
  }
}
