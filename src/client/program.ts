/** The command line, made from the table of commands. */
import { Command, CommanderError, Help, Option } from 'commander';
import { packageVersion } from '../lib/file/package.ts';
import { canonicalWords } from '../model/command-word.ts';
import { Fault } from '../model/fault.ts';
import { areas, table } from '../noun/cli.ts';
import type { CommandEntry, GroupEntry, Invocation, OptionEntry } from './cli.ts';
import { flagsOf, globalOptions } from './completion/completion.ts';

export interface GlobalOptions {
  readonly home?: string;
  readonly user?: string;
  readonly json?: boolean;
}

export type Dispatch = (entry: CommandEntry, invocation: Invocation, globals: GlobalOptions) => Promise<void>;

/**
 * Reads argv and hands the command to `dispatch`. Wrong input is a Fault (`invalid`) with a hint; help and version are
 * printed here.
 */
export async function parse(argv: readonly string[], dispatch: Dispatch): Promise<void> {
  const [typed, tail] = splitCommand(argv);
  const head = withShownVerb(typed);
  const isQuiet = head.includes('--json') || wordPlaces(head).length === 0;
  const program = buildProgram(tail, dispatch, isQuiet, neededEntries(head));
  try {
    await program.parseAsync([...head], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw refusal(error, head);
  }
}

/**
 * If a command takes a command for the sandbox, that follows `--`, or follows the arguments (`commandAfter`). If it
 * takes paths, they follow `--`. For all other commands `--` ends the options, as usual.
 */
export function splitCommand(argv: readonly string[]): [head: readonly string[], tail: readonly string[]] {
  const at = argv.indexOf('--');
  const before = at < 0 ? argv : argv.slice(0, at);
  const entry = entryOf(before);
  if (!entry?.takesCommand && !entry?.takesPaths) return [argv, []];
  const start = entry.commandAfter === undefined ? undefined : operandPlaces(before, entry)[entry.commandAfter];
  if (start !== undefined) return [argv.slice(0, start), argv.slice(start)];
  return at < 0 ? [argv, []] : [before, argv.slice(at + 1)];
}

/** The indexes of a command's arguments, without options and their values. */
function operandPlaces(argv: readonly string[], entry: CommandEntry): number[] {
  const options = [...(entry.options ?? []), ...globalOptions].map(flagsOf).filter(({ takesValue }) => takesValue);
  const takesNext = (word: string) => options.some(({ long, short }) => word === long || endsWith(word, short));
  const places: number[] = [];
  for (let place = 0; place < argv.length; place += 1) {
    const word = argv[place]!;
    if (!word.startsWith('-')) places.push(place);
    else if (takesNext(word)) place += 1;
  }
  return places.slice(entry.name.split(' ').length);
}

/** Whether a word such as `-te` ends with this short option. */
function endsWith(word: string, short: string | null): boolean {
  return short !== null && /^-[a-zA-Z]+$/.test(word) && word.endsWith(short.slice(1));
}

/** Turns `swarm list` into `swarm ls`. Words that are no command stay as typed, for the error message. */
function withShownVerb(argv: readonly string[]): readonly string[] {
  const places = wordPlaces(argv);
  const verbs = argv[places[0] ?? -1] === 'help' ? places.slice(1) : places;
  const words = canonicalWords(
    verbs.map((place) => argv[place]!),
    table.groups.map(({ name }) => name),
  );
  if (!entryNamed(words)) return argv;
  return argv.map((word, place) => words[verbs.indexOf(place)] ?? word);
}

function entryOf(argv: readonly string[]): CommandEntry | undefined {
  return entryNamed(wordPlaces(argv).map((place) => argv[place]!));
}

function entryNamed([first, second]: readonly string[]): CommandEntry | undefined {
  return table.commands.find(({ name }) => name === first || name === `${first} ${second}`);
}

/** The commands to build: the one that runs, or all of them for help. */
function neededEntries(head: readonly string[]): readonly CommandEntry[] {
  const entry = head.some((word) => ['-h', '--help'].includes(word)) ? undefined : entryOf(head);
  return entry ? [entry] : table.commands;
}

function groupOf(argv: readonly string[]): GroupEntry | undefined {
  return table.groups.find(({ name }) => name === argv[wordPlaces(argv)[0] ?? -1]);
}

/** The indexes of the words that are neither options nor the values of global options. */
function wordPlaces(argv: readonly string[]): number[] {
  const isValue = (place: number) => ['--home', '--user'].includes(argv[place - 1] ?? '');
  return [...argv.keys()].filter((place) => !argv[place]!.startsWith('-') && !isValue(place));
}

function buildProgram(
  tail: readonly string[],
  dispatch: Dispatch,
  isQuiet: boolean,
  entries: readonly CommandEntry[],
): Command {
  const program = new Command('carrel')
    .description('One machine, many AI coding agents: each in an isolated sandbox.')
    .usage('[--home DIR] [--user NAME] [--json] COMMAND')
    .option('--home <DIR>', 'directory of the installation (default: CARREL_HOME, else ~/.carrel)')
    .option('--user <NAME>', 'act as this user; for the owner')
    .option('--json', 'print JSON and nothing else on stdout')
    .version(packageVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .exitOverride()
    .configureOutput({ outputError: () => {}, ...(isQuiet ? { writeErr: () => {} } : {}) })
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) => `${command.name()} ${command.usage().replace(/^\[options\] ?/, '')}`.trimEnd(),
      padWidth: (command, help) => Math.min(widestTerm, Help.prototype.padWidth.call(help, command, help)),
      formatItem,
    })
    .helpCommand(false);
  program.addHelpText('after', `\n${environment}\n\nFirst steps: carrel demo; carrel doctor; carrel claude .`);
  for (const entry of entries)
    parentOf(entry, program).addCommand(buildCommand(entry, program, tail, dispatch), { hidden: !!entry.hidden });
  return program.addCommand(buildHelp(program));
}

/** The description of a wider term goes below it, so that it fits on a terminal of 80 columns. */
const widestTerm = 30;

function formatItem(this: Help, term: string, termWidth: number, description: string, help: Help): string {
  const item = (text: string) => Help.prototype.formatItem.call(this, text, termWidth, description, help);
  return help.displayWidth(term) <= termWidth ? item(term) : `  ${term}\n${item('')}`;
}

const environment = [
  'CARREL_SOCKET is the shared socket of a daemon of another account,',
  'CARREL_TOKEN_FILE the file with your token for it (or CARREL_TOKEN the token).',
].join('\n');

/** Like `carrel COMMAND --help`. An unknown command is refused as usual, with a suggestion. */
function buildHelp(program: Command): Command {
  const help = new Command('help').argument('[command...]').usage('[COMMAND]').summary('explain a command');
  return help
    .helpGroup('Getting started:')
    .copyInheritedSettings(program)
    .action(async (words: readonly string[]) => {
      let found = program;
      for (const word of words) {
        if (found.commands.length === 0) break;
        const next = found.commands.find((command) => command.name() === word);
        if (!next) return void (await found.parseAsync([word], { from: 'user' }));
        found = next;
      }
      found.help();
    });
}

/** Help shows commands in the order they are added, so a group is added with its first command. */
function parentOf(entry: CommandEntry, program: Command): Command {
  const group = table.groups.find(({ name }) => entry.name.startsWith(`${name} `));
  if (!group) return program;
  const there = program.commands.find((command) => command.name() === group.name);
  if (there) return there;
  const made = buildGroup(group, program);
  program.addCommand(made);
  return made;
}

function buildGroup({ name, summary }: GroupEntry, program: Command): Command {
  return new Command(name)
    .summary(`${summary}: ${wordsIn(name).join(', ')}`)
    .description(sentence(summary))
    .helpGroup(headingOf(name))
    .copyInheritedSettings(program)
    .usage('COMMAND')
    .helpCommand(false);
}

/** The heading under which `carrel help` shows a command of one word or a group. */
function headingOf(name: string): string {
  const has = (entries: readonly { readonly name: string }[] = []) => entries.some((entry) => entry.name === name);
  return areas.find(({ commands, groups }) => has(commands) || has(groups))!.heading;
}

/** The second words of the commands in a group. */
function wordsIn(group: string): string[] {
  return table.commands
    .filter(({ name }) => name.startsWith(`${group} `))
    .map(({ name }) => name.slice(group.length + 1));
}

function sentence(summary: string): string {
  return `${summary[0]!.toUpperCase()}${summary.slice(1)}.`;
}

function buildCommand(entry: CommandEntry, program: Command, tail: readonly string[], dispatch: Dispatch): Command {
  const [first, second] = entry.name.split(' ');
  const command = new Command(second ?? first)
    .summary(entry.summary)
    .description(sentence(entry.summary))
    .helpGroup(second === undefined ? headingOf(entry.name) : 'Commands:')
    .copyInheritedSettings(program);
  if (entry.args) command.arguments(entry.args);
  if (entry.usage) command.usage(entry.usage);
  for (const option of entry.options ?? []) command.addOption(buildOption(option));
  command.addHelpText('after', `\nExamples:\n${exampleLines(entry.examples).join('\n')}`);
  return command.action(async () => {
    const invocation = { args: command.args, options: command.opts(), command: tail };
    await dispatch(entry, invocation, program.opts());
  });
}

function exampleLines(examples: readonly string[]): string[] {
  return examples.map((line) => `  carrel ${line}`);
}

function buildOption({ flags, summary, choices, repeat, hidden }: OptionEntry): Option {
  const option = new Option(flags, summary).hideHelp(hidden === true);
  if (choices) option.choices(choices);
  if (repeat) option.argParser((value: string, before: readonly string[] = []) => [...before, value]);
  return option;
}

function refusal(error: CommanderError, head: readonly string[]): Fault {
  if (error.code === 'commander.help') return incomplete(groupOf(head));
  const [message = '', guess] = error.message.replace(/^error: /, '').split('\n');
  const hint = guess?.replace(/^\(|\)$/g, '') ?? advice(error.code, entryOf(head), groupOf(head));
  return new Fault('invalid', message, { cause: error, hint });
}

/** The commands that a new user needs, on one screen. */
const firstCommands = [
  ['carrel claude .', 'Claude Code in a sandbox, on a copy of this folder;'],
  ['', 'codex, gemini, opencode, copilot, qwen likewise'],
  ['carrel run . -- CMD', 'any command in a sandbox'],
  ['carrel ls', 'the sandboxes'],
  ['carrel diff NAME', 'what changed in one of them'],
  ['carrel apply NAME', 'take the changes; carrel undo NAME takes it back'],
  ['carrel demo', 'a tour that needs no key and no network'],
  ['carrel doctor', 'what this machine offers'],
  ['carrel help', 'all commands; carrel help COMMAND explains one'],
]
  .map(([command, text]) => `${command!.padEnd(20)} ${text}`)
  .join('\n');

function incomplete(group: GroupEntry | undefined): Fault {
  if (!group) return new Fault('invalid', 'no command', { hint: firstCommands });
  const { name } = group;
  return new Fault('invalid', `carrel ${name} needs one of ${wordsIn(name).join(', ')}`, {
    hint: `carrel help ${name}`,
  });
}

function advice(code: string, entry: CommandEntry | undefined, group: GroupEntry | undefined): string {
  if (!entry) return group ? `carrel help ${group.name}` : 'carrel help';
  const misplaced = code === 'commander.excessArguments' || code === 'commander.unknownOption';
  if (!entry.takesCommand || !misplaced) return `carrel help ${entry.name}`;
  const rest = entry.usage?.includes('ARGS') ? 'arguments of the agent follow' : 'the command to run follows';
  return `carrel ${entry.name} ${entry.usage}; ${rest} after --`;
}
