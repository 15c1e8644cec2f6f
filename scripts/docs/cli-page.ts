/** The page about the command line, from the table of commands. */
import type { CommandEntry, OptionEntry } from '../../src/client/cli.ts';
import { faultTable } from '../../src/model/fault.ts';
import { areas } from '../../src/noun/cli.ts';
import { table } from './schema.ts';

export function cliPage(): string {
  return `# Commands

<!-- Made by \`npm run docs\`. Change the table in src/cli instead. -->

\`carrel [--home DIR] [--user NAME] [--json] COMMAND\`

${table(
  ['option', 'meaning'],
  [
    ['`--home DIR`', 'the installation to use; default `CARREL_HOME`, else `~/.carrel`'],
    ['`--user NAME`', 'act as this user; for the owner of the installation'],
    ['`--json`', 'print one JSON document, or one per line for streams, and nothing else on stdout'],
  ],
)}

\`CARREL_SOCKET\` names the shared socket of another daemon, \`CARREL_TOKEN_FILE\` the file with your token for it (or \`CARREL_TOKEN\` the token).
The daemon starts by itself when a command needs it.

${[...new Set(areas.map(({ heading }) => heading))].map(headingText).join('\n\n')}

## Exit codes

\`run\`, \`exec\` and \`home shell\` exit with the code of the command inside. All others:

${table(['exit code', 'errors', 'retry'], exitRows())}
`;
}

/** The commands of all areas with this heading. */
function headingText(heading: string): string {
  const commands = areas.filter((area) => area.heading === heading).flatMap((area) => area.commands);
  const shown = commands.filter(({ hidden }) => !hidden);
  return [`## ${heading.replace(/:$/, '')}`, ...shown.map(commandText)].join('\n\n');
}

function commandText(entry: CommandEntry): string {
  const options = (entry.options ?? []).filter(({ hidden }) => !hidden);
  const parts = [`### carrel ${entry.name}`, `\`${usageOf(entry)}\``, sentence(entry.summary)];
  if (options.length > 0) parts.push(table(['option', 'meaning'], options.map(optionRow)));
  parts.push(['```sh', ...entry.examples.map((line) => `carrel ${line}`), '```'].join('\n'));
  return parts.join('\n\n');
}

function usageOf({ name, args, usage, options }: CommandEntry): string {
  const words = (args ?? '').replace(/<([^>]+)>/g, '$1').replaceAll('...', '…');
  const rest = usage ?? [options?.length ? '[options]' : '', words].filter(Boolean).join(' ');
  return `carrel ${name} ${rest}`.trim();
}

function optionRow({ flags, summary, choices }: OptionEntry): string[] {
  const which = choices ? `: ${choices.map((choice) => `\`${choice}\``).join(', ')}` : '';
  return [`\`${flags.replace(/<([^>]+)>/, '$1')}\``, `${summary}${which}`];
}

function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`;
}

function exitRows(): string[][] {
  const codes = new Map<number, { readonly names: string[]; readonly retry: boolean }>();
  for (const [name, { exit, retry }] of Object.entries(faultTable)) {
    const row = codes.get(exit) ?? { names: [], retry };
    row.names.push(`\`${name}\``);
    codes.set(exit, row);
  }
  const rows = [...codes].sort(([a], [b]) => a - b);
  return [
    ['0', 'none', ''],
    ...rows.map(([exit, { names, retry }]) => [`${exit}`, names.join(', '), retry ? 'yes' : 'no']),
  ];
}
