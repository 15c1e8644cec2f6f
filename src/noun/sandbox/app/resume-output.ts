/**
 * The connection to a command whose engine went away while it ran. The client gets a notice at once. When the engine
 * answers again, the rest of the output is read from its log: of records from before the break only what the client
 * does not have, of later ones everything. A killed engine loses output that it had read from the command and not
 * passed on, and what a command writes in its absence is kept only as long as the command runs. So the output is
 * certain to be complete only if nothing was written just before the break and the command ran on after it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Engine, LogLine, Observed } from '../../../kernel/engine/engine.ts';
import { Fault, faultTable, isFault } from '../../../model/fault.ts';
import type { Sandbox } from '../model.ts';

type Stream = LogLine['stream'];

/** Counts what the client has got so far. */
export class SentOutput {
  readonly bytes = { stdout: 0, stderr: 0 };
  #lastAtMs = 0;

  add(stream: Stream, length: number): void {
    this.bytes[stream] += length;
    this.#lastAtMs = Date.now();
  }

  /** Whether nothing was passed on for a while before that time. */
  wasQuiet(atMs: number): boolean {
    return atMs - this.#lastAtMs > quietMs;
  }
}

export interface BrokenConnection {
  readonly engine: Pick<Engine, 'inspect' | 'logs'>;
  readonly sandbox: Sandbox;
  readonly sent: SentOutput;
  /** Sends to the client, at the client's pace. */
  readonly send: (stream: Stream, bytes: Buffer) => Promise<void>;
  readonly note: (message: string) => void;
  /** Called when the engine answers again and the command still runs. */
  readonly onReturn: () => Promise<void>;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

const quietMs = 1000;
const firstPollMs = 100;
const longestPollMs = 1000;
/** How long an engine may still report a command as running after its streams have ended. */
const settleMs = 2000;
/** The log lacks a line that was never finished, so fewer missing bytes than this are no loss. */
const unfinishedBytes = 64 * 1024;

/**
 * Called after the streams of a console have ended. Resolves when all output was passed on; false: some may be missing.
 */
export async function resumeOutput(broken: BrokenConnection): Promise<boolean> {
  let brokeAtMs = Date.now();
  let whole = true;
  for (let trouble = await troubleOf(broken); trouble !== null; brokeAtMs = Date.now()) {
    const wasQuiet = broken.sent.wasQuiet(brokeAtMs);
    broken.note(`${trouble.message}; waiting for it, Ctrl-C stops`);
    const found = await returned(broken);
    if (found === null) return false;
    broken.note(`the engine answers again; ${broken.sandbox.name} ${isLive(found) ? 'runs' : 'has ended'}`);
    if (isLive(found)) await broken.onReturn();
    const rest = await sendRest(broken, isLive(found), brokeAtMs);
    whole = whole && wasQuiet && isLive(found) && rest.isWhole;
    trouble = rest.trouble;
  }
  return whole;
}

export function outputMissing(name: string): Fault {
  return new Fault(
    'unavailable',
    `${name} ended with exit code 0, but its engine did not answer for some time, so some of its output may be missing`,
    {
      hint: `See what was kept: carrel logs ${name}`,
    },
  );
}

/**
 * Null: the command has ended. The embedded engine has no process between the command and the daemon that could go
 * away.
 */
async function troubleOf(broken: BrokenConnection): Promise<Fault | null> {
  const { engine, sandbox, signal } = broken;
  if (sandbox.spec.engine === 'local') return null;
  const deadline = Date.now() + settleMs;
  try {
    for (;;) {
      const found = await engine.inspect(sandbox.id, sandbox.status.handle);
      if (!isLive(found) || signal.aborted) return null;
      if (Date.now() > deadline) return new Fault('unavailable', `the connection to ${sandbox.name} was lost`);
      await pause(firstPollMs, signal);
    }
  } catch (error) {
    if (isAway(error)) return error;
    throw error;
  }
}

/** Null: the client did not wait. */
async function returned({ engine, sandbox, signal }: BrokenConnection): Promise<Observed | null> {
  for (let waitMs = firstPollMs; !signal.aborted; waitMs = Math.min(waitMs * 2, longestPollMs)) {
    try {
      return await engine.inspect(sandbox.id, sandbox.status.handle);
    } catch (error) {
      if (!isAway(error)) throw error;
    }
    await pause(waitMs, signal);
  }
  return null;
}

async function sendRest(broken: BrokenConnection, follow: boolean, brokeAtMs: number) {
  const { engine, sandbox, sent, signal } = broken;
  const skip = { ...sent.bytes };
  try {
    for await (const { at, stream, bytes } of engine.logs(sandbox.id, { follow, tail: null, signal })) {
      const known = Date.parse(at) <= brokeAtMs ? Math.min(skip[stream], bytes.length) : 0;
      skip[stream] -= known;
      if (known === bytes.length) continue;
      sent.add(stream, bytes.length - known);
      await broken.send(stream, bytes.subarray(known));
    }
  } catch (error) {
    if (!isAway(error)) throw error;
    return { isWhole: false, trouble: error };
  }
  // Output that the client got and the log does not have any more was dropped from the log, perhaps with more.
  return { isWhole: Math.max(skip.stdout, skip.stderr) < unfinishedBytes, trouble: null };
}

function isLive({ kind }: Observed): boolean {
  return kind === 'running' || kind === 'paused';
}

function isAway(error: unknown): error is Fault {
  return isFault(error) && faultTable[error.code].retry;
}

function pause(waitMs: number, signal: AbortSignal): Promise<unknown> {
  return sleep(waitMs, undefined, { signal }).catch(() => {});
}
