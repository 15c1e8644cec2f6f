/**
 * The streams of a running command whose log is in the engine's folder, which is the case with Podman. With Podman a
 * client that attaches and detaches closes the command's input, and a client that attaches too late recreates an ended
 * container. So the daemon reads output from the log, and writes input to the pipe that the command reads.
 */
import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import type { ContainerInspectInfo } from 'dockerode';
import { isAlive } from '../../../../lib/process/process.ts';
import { Fault } from '../../../../model/fault.ts';
import type { Console, LogLine } from '../../engine.ts';
import { followLog } from '../../local/log/log-file.ts';
import { endBoth, type Outputs } from '../connection/frames.ts';
import type { DockerContext } from '../context.ts';
import { watchEnd } from '../end.ts';
import { hostProcess } from '../host-process.ts';
import { stdinOf } from './console.ts';

export async function openLogConsole(
  context: DockerContext,
  id: string,
  container: ContainerInspectInfo,
): Promise<Console> {
  const detached = new AbortController();
  const lines = await followLog(context.run(id), context.log.files, watchEnd(context, container.Id), detached.signal);
  const input = container.Config.OpenStdin ? openInput(container) : null;
  const outputs = { stdout: new PassThrough(), stderr: new PassThrough() };
  void pour(lines, outputs, detached.signal).finally(() => input?.destroy());
  return {
    ...outputs,
    stdin: input ? stdinOf(input) : new Writable({ write: (_chunk, _encoding, done) => done() }),
    resize: async () => {},
    detach: () => detached.abort(),
  };
}

/** Copies lines to both streams at the pace of the slower reader. */
async function pour(lines: AsyncIterable<LogLine>, outputs: Outputs, signal: AbortSignal): Promise<void> {
  try {
    for await (const { stream, bytes } of lines) {
      if (!outputs[stream].write(bytes)) await drained(outputs[stream], signal);
    }
  } catch {
    // An engine that does not answer counts as an end; the next request about the sandbox reports more, ignoring.
  }
  endBoth(outputs);
}

function drained(stream: PassThrough, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    stream.once('drain', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** The first process holds the command's stdin, and no process inside can replace it. */
function openInput(container: ContainerInspectInfo): Socket {
  const init = hostProcess(container);
  const fd = openPipe(`/proc/${init.pid}/fd/0`);
  if (isAlive(init) && fstatSync(fd).isFIFO()) {
    return new Socket({ fd, readable: false, writable: true }).on('error', () => {});
  }
  closeSync(fd);
  throw ended();
}

function openPipe(path: string): number {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw ended(error);
  }
}

function ended(cause?: unknown): Fault {
  return new Fault('not_ready', 'the command of the sandbox has ended', { cause });
}
