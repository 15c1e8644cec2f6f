import type { Context, Invocation } from '../../../client/cli.ts';
import type { Client } from '../../../client/client.ts';
import { connect } from '../../../client/connect/connect.ts';
import { counted } from '../../../client/output/count.ts';
import type { Output } from '../../../client/output/output.ts';
import { commandLine } from '../../../client/output/text.ts';
import { brokenPipeExit, onBrokenPipe } from '../../../client/pipe.ts';
import { withTrust } from '../../../client/project-file/trust.ts';
import { catchSignals } from '../../../client/signals.ts';
import type { StreamExit } from '../../../client/stream/stream.ts';
import { Fault, isFault } from '../../../model/fault.ts';
import type { SandboxView } from '../api.ts';
import { create } from './create.ts';
import { warnAboutFallback } from './fallback.ts';
import { printPorts } from './published.ts';
import { type SandboxOptions, sandboxRequest, withAuthor, withStreams } from './request.ts';
import { showUntilEnd } from './stream/interactive.ts';
import { chosenStreams, type StreamChoice } from './stream/stream-options.ts';

const interruptedExit = 130;
/** How long looking for changes may delay the end of the command. */
const changesTimeoutMs = 2000;

export async function run(context: Context, invocation: Invocation<SandboxOptions>): Promise<number> {
  const { args, options, command } = invocation;
  if (command.length === 0) throw noCommand(args[0]);
  if (options.detach) {
    await create(context, invocation);
    return 0;
  }
  const streams = chosenStreams(options, context.out, true);
  const request = withStreams(sandboxRequest(options, args[0], command), streams);
  const body = { ...(await withAuthor(request)), console: true };
  const client = connect(context);
  const interrupts = new InterruptHandler(client, context.out);
  const release = catchSignals(() => interrupts.press());
  try {
    const view = await withTrust(context, client, () => client.call('POST /v1/sandboxes', { body }));
    interrupts.stops(view.name);
    if (context.json) context.out.document({ stream: 'sandbox', name: view.name, id: view.id }, 0);
    warnAboutFallback(context.out, body, view);
    printPorts(context.out, view);
    const exit = await join(client, context.out, view, streams);
    warnRefused(context.out, view.name, exit.refused, options.rm);
    if (options.rm) await warnKept(client, context.out, view);
    else await noteChanges(client, context.out, view);
    return interrupts.pressed ? interruptedExit : exit.exitCode;
  } finally {
    release();
  }
}

async function join(
  client: Client,
  out: Output,
  view: SandboxView,
  { stdin, terminal }: StreamChoice,
): Promise<StreamExit> {
  const { name, command } = view;
  const socket = await client.upgrade('GET /v1/sandboxes/{name}/attach', { name });
  try {
    return await showUntilEnd(socket, out, { name, argv: command }, { stdin, terminal: terminal !== null });
  } finally {
    socket.destroy();
  }
}

/** Says which connections were refused, and the command that allows them. */
function warnRefused(out: Output, name: string, refused: readonly string[] = [], isRemoved = false): void {
  if (refused.length === 0) return;
  out.warn(`no rule of ${name} allows ${refused.join(', ')}`);
  const hint = isRemoved ? `--network ${refused.join(',')}` : commandLine(['carrel', 'net', 'allow', name, ...refused]);
  out.say(`  hint: ${hint}`);
}

/** `--rm` does not remove a sandbox with unapplied changes: this warns that the sandbox was kept. */
async function warnKept(client: Client, out: Output, { name, workspace }: SandboxView): Promise<void> {
  if (workspace === null) return;
  const kept = await client.call('GET /v1/sandboxes/{name}', { path: { name } }).then(
    (view) => view.kept,
    () => false,
  );
  if (kept) out.warn(`${name} was kept: it has changes that were not applied; see: carrel diff ${name}`);
}

/** At a terminal, the end of a run mentions changes to review. */
async function noteChanges(client: Client, out: Output, { name, workspace }: SandboxView): Promise<void> {
  if (workspace === null || !out.interactive) return;
  try {
    const signal = AbortSignal.timeout(changesTimeoutMs);
    const { changes } = await client.call('POST /v1/sandboxes/{name}/changes', { path: { name }, body: {}, signal });
    if (changes.length > 0) out.note(`${counted(changes.length, 'file')} changed; see: carrel diff ${name}`);
  } catch {
    // The sandbox was removed, or finding its changes takes too long, ignoring: the note is optional.
  }
}

/** Handles Ctrl-C: the first stops the sandbox, the second kills it, the third ends this command without waiting. */
class InterruptHandler {
  readonly #client: Client;
  readonly #out: Output;
  #name: string | null = null;
  #presses = 0;

  constructor(client: Client, out: Output) {
    this.#client = client;
    this.#out = out;
  }

  get pressed(): boolean {
    return this.#presses > 0;
  }

  press(): void {
    this.#presses += 1;
    if (this.#presses > 2) process.exit(interruptedExit);
    if (this.#name !== null) this.#stop(this.#name);
  }

  /** Called when the sandbox exists and can be stopped; a Ctrl-C before that is handled now. */
  stops(name: string): void {
    this.#name = name;
    if (this.pressed) this.#stop(name);
    // If the reader of the output is gone, the sandbox is stopped: its command would run for ever.
    onBrokenPipe(() => {
      this.#client.call('POST /v1/sandboxes/{name}/stop', { path: { name }, body: { graceMs: 0 } }).then(leave, leave);
    });
  }

  #stop(name: string): void {
    const first = this.#presses === 1;
    this.#out.warn(first ? `stopping ${name}; Ctrl-C again to kill it` : `killing ${name}`);
    this.#client
      .call('POST /v1/sandboxes/{name}/stop', { path: { name }, body: first ? {} : { graceMs: 0 } })
      .catch((error: unknown) => {
        // `not_found` and `conflict`: the sandbox has ended by itself.
        if (!isFault(error, 'not_found') && !isFault(error, 'conflict')) this.#out.warn((error as Error).message);
      });
  }
}

function leave(): void {
  process.exit(brokenPipeExit);
}

function noCommand(project: string | undefined): Fault {
  const example = project === undefined ? 'uname -a' : commandLine([project]);
  return new Fault('invalid', 'run needs a command', { hint: `Put it after --, such as: carrel run -- ${example}` });
}
