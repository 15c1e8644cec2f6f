/** The command line, made from the table of commands. */
import { Command, CommanderError, Option } from 'commander';
import { Fault } from '../model/fault.ts';
import { type CommandEntry, commands, type OptionEntry } from './commands.ts';
import type { Invocation } from './context.ts';
import { version } from './version.ts';

export interface GlobalOptions {
  readonly home?: string;
  readonly json?: boolean;
}

export type Dispatch = (entry: CommandEntry, invocation: Invocation, globals: GlobalOptions) => Promise<void>;

/**
 * Reads argv and hands the command to `dispatch`. What cannot be read is a Fault (`invalid`) with the cure; help and
 * version are printed and end here.
 */
export async function parse(argv: readonly string[], dispatch: Dispatch): Promise<void> {
  const [head, tail] = splitCommand(argv);
  const program = buildProgram(tail, dispatch);
  try {
    await program.parseAsync([...head], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw refusal(error, head);
  }
}

/** Only commands that take one give `--` a meaning of its own; for all others it ends the options, as usual. */
export function splitCommand(argv: readonly string[]): [head: readonly string[], tail: readonly string[]] {
  const at = argv.indexOf('--');
  if (at < 0 || !entryOf(argv.slice(0, at))?.takesCommand) return [argv, []];
  return [argv.slice(0, at), argv.slice(at + 1)];
}

function entryOf(argv: readonly string[]): CommandEntry | undefined {
  const words = argv.filter((word, index) => !word.startsWith('-') && argv[index - 1] !== '--home');
  return commands.find(({ name }) => name === words[0]);
}

function buildProgram(tail: readonly string[], dispatch: Dispatch): Command {
  const program = new Command('carrel')
    .description('One machine, many AI coding agents: each in an isolated sandbox.')
    .usage('[--home DIR] [--json] COMMAND')
    .option('--home <DIR>', 'the installation to use (CARREL_HOME, default ~/.carrel)')
    .option('--json', 'print JSON and nothing else on stdout')
    .version(version(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureOutput({ outputError: () => {} })
    .configureHelp({
      subcommandTerm: (command) => `${command.name()} ${command.usage().replace(/^\[options\] ?/, '')}`,
    });
  program.addHelpCommand(
    new Command('help').argument('[command]').summary('explain a command').helpGroup('First contact:'),
  );
  program.addHelpText('after', '\nFirst steps: carrel doctor; carrel run -- uname -a');
  for (const entry of commands)
    program.addCommand(buildCommand(entry, program, tail, dispatch), { hidden: !!entry.hidden });
  return program;
}

function buildCommand(entry: CommandEntry, program: Command, tail: readonly string[], dispatch: Dispatch): Command {
  const command = new Command(entry.name)
    .summary(entry.summary)
    .description(`${entry.summary[0]!.toUpperCase()}${entry.summary.slice(1)}.`)
    .helpGroup(entry.area)
    .copyInheritedSettings(program);
  if (entry.args) command.arguments(entry.args);
  if (entry.usage) command.usage(entry.usage);
  for (const option of entry.options ?? []) command.addOption(buildOption(option));
  return command.action(async () => {
    const invocation = { args: command.args, options: command.opts(), command: tail };
    await dispatch(entry, invocation, program.opts());
  });
}

function buildOption({ flags, summary, choices, repeat, hidden }: OptionEntry): Option {
  const option = new Option(flags, summary).hideHelp(hidden === true);
  if (choices) option.choices(choices);
  if (repeat) option.argParser((value: string, before: readonly string[] = []) => [...before, value]);
  return option;
}

function refusal(error: CommanderError, head: readonly string[]): Fault {
  if (error.code === 'commander.help') return new Fault('invalid', 'no command was given', { hint: 'carrel help' });
  const [message = '', guess] = error.message.replace(/^error: /, '').split('\n');
  const hint = guess?.replace(/^\(|\)$/g, '') ?? advice(error.code, entryOf(head));
  return new Fault('invalid', message, { cause: error, hint });
}

function advice(code: string, entry: CommandEntry | undefined): string {
  if (!entry) return 'carrel help';
  const misplaced = code === 'commander.excessArguments' || code === 'commander.unknownOption';
  if (!entry.takesCommand || !misplaced) return `carrel help ${entry.name}`;
  return `carrel ${entry.name} ${entry.usage}; what runs inside stands after --`;
}
