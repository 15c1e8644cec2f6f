/** The entry of the command line: reads argv, runs one command, ends with its exit code. */
import { asFault } from '../model/fault.ts';
import { checkUserName } from '../model/user.ts';
import { table } from '../noun/cli.ts';
import type { CommandEntry, Context, Invocation, Perform } from './cli.ts';
import { socketOf } from './connect/access.ts';
import { homeOf } from './home.ts';
import { withOptionName } from './option-name.ts';
import { Output } from './output/output.ts';
import { brokenPipe } from './pipe.ts';
import type { GlobalOptions } from './program.ts';
import { listenForSignals } from './signals.ts';

export async function main(argv: readonly string[]): Promise<void> {
  let out = new Output(false);
  watchOver((error) => out.fail(asFault(error)));
  const code = await runCommand(argv, (json) => {
    out = new Output(json);
    return out;
  });
  await written();
  process.exit(code);
}

/** Runs one command and resolves to its exit code. `open` makes the output. */
export async function runCommand(argv: readonly string[], open: (json: boolean) => Output): Promise<number> {
  let out = open(wantsJson(argv));
  let code = 0;
  const dispatch = async (entry: CommandEntry, invocation: Invocation, globals: GlobalOptions) => {
    out = open(globals.json === true);
    out.reword = (fault) => withOptionName(fault, entry);
    code = await perform(entry, contextOf(globals, out), invocation);
  };
  try {
    const { parse } = await import('./program.ts');
    await parse(argv, dispatch);
  } catch (error) {
    code = out.fail(asFault(error));
  }
  return code;
}

/** Waits until stdout and stderr are flushed: Node still buffers what a slow reader of a pipe has not taken. */
async function written(): Promise<void> {
  const streams = [process.stdout, process.stderr];
  await Promise.all(streams.map((stream) => new Promise<void>((resolve) => stream.write('', () => resolve()))));
}

function contextOf({ home, user }: GlobalOptions, out: Output): Context {
  return {
    home: homeOf(home),
    socket: socketOf(home),
    user: user === undefined ? null : checkUserName(user),
    json: out.json,
    out,
    table,
  };
}

async function perform(entry: CommandEntry, context: Context, invocation: Invocation): Promise<number> {
  // The table pairs each command with its own options, which the compiler cannot see through the parser.
  const command = (await entry.load()) as Perform<object>;
  return (await command(context, invocation)) ?? 0;
}

/** Reads the words without parsing them, because an error in the arguments is reported before parsing is done. */
function wantsJson(argv: readonly string[]): boolean {
  const end = argv.indexOf('--');
  return argv.slice(0, end < 0 ? argv.length : end).includes('--json');
}

function watchOver(fail: (error: unknown) => number): void {
  listenForSignals();
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') process.exit(fail(error));
    brokenPipe();
  });
  process.stderr.on('error', () => {});
  process.on('uncaughtException', (error) => process.exit(fail(error)));
  process.on('unhandledRejection', (error) => process.exit(fail(error)));
}
