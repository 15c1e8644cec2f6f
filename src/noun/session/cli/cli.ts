/** The commands about sessions. */
import type { Area, CommandEntry, GroupEntry, OptionEntry } from '../../../client/cli.ts';

const groups: readonly GroupEntry[] = [{ name: 'session', summary: 'conversations with agents in sandboxes' }];

const agent: OptionEntry = {
  flags: '--agent <NAME>',
  field: 'agent',
  summary: 'the agent: claude, codex, gemini, opencode, demo, or one of config.yaml',
};
const session: OptionEntry = {
  flags: '--session <ID>',
  summary: 'the session, by its id or the beginning or end of it (default: the newest open one)',
};

const commands: readonly CommandEntry[] = [
  {
    name: 'chat',
    summary: 'talk with an agent that works in a sandbox on a copy of the project',
    args: '[PLACE]',
    usage: '[options] [SANDBOX|PROJECT]',
    options: [agent, session, { flags: '--new', summary: 'begin a new session' }],
    examples: ['chat .', 'chat . --agent demo', 'chat web --new', 'chat . < prompt.txt'],
    completes: 'sandbox',
    load: async () => (await import('./chat.ts')).chat,
  },
  {
    name: 'session ls',
    summary: 'list sessions, of one sandbox or of all',
    args: '[SANDBOX]',
    options: [{ flags: '-a, --all', summary: 'closed ones too' }],
    completes: 'sandbox',
    examples: ['session ls', 'session ls ada --all'],
    load: async () => (await import('./ls.ts')).sessionLs,
  },
  {
    name: 'session show',
    summary: 'show a session: its state, open questions and messages',
    args: '<SANDBOX>',
    options: [session, { flags: '--last <N>', summary: 'the last N messages (default 20, 0: none)' }],
    completes: 'sandbox',
    examples: ['session show ada --last 20'],
    load: async () => (await import('./show.ts')).sessionShow,
  },
  {
    name: 'session send',
    summary: 'send a prompt, in a new session if there is none; - reads it from stdin',
    args: '<SANDBOX> <TEXT...>',
    usage: '[options] SANDBOX TEXT…|-',
    fields: { text: 'TEXT' },
    options: [
      agent,
      session,
      { flags: '--new', summary: 'begin a new session' },
      { flags: '--queue', field: 'queue', summary: 'wait for the turn that is under way' },
      { flags: '--wait', summary: 'print the answer at the end of the turn; the exit code tells how it ended' },
    ],
    examples: ['session send web --wait run the tests', 'session send web - < prompt.txt'],
    completes: 'sandbox',
    load: async () => (await import('./send.ts')).sessionSend,
  },
  {
    name: 'session follow',
    summary: 'print the events of a session from the first on, until Ctrl-C',
    args: '<SANDBOX>',
    options: [session, { flags: '--after <SEQ>', field: 'after', summary: 'begin after the event with this number' }],
    completes: 'sandbox',
    examples: ['session follow ada'],
    load: async () => (await import('./follow.ts')).sessionFollow,
  },
  {
    name: 'session answer',
    summary: 'answer a question of the agent: by a key or name of an option, or text',
    args: '<SANDBOX> [ANSWER...]',
    usage: '[options] SANDBOX ANSWER…',
    options: [
      session,
      { flags: '--question <ID>', summary: 'which question, if several are open' },
      { flags: '--cancel', field: 'cancel', summary: 'decline to answer' },
    ],
    examples: ['session answer web y', 'session answer web the blue one'],
    completes: 'sandbox',
    load: async () => (await import('./answer.ts')).sessionAnswer,
  },
  {
    name: 'session cancel',
    summary: 'end the turn that is under way, and its questions',
    args: '<SANDBOX>',
    options: [session],
    completes: 'sandbox',
    examples: ['session cancel ada'],
    load: async () => (await import('./commands.ts')).sessionCancel,
  },
  {
    name: 'session fork',
    summary: 'begin another session with the same messages',
    args: '<SANDBOX>',
    options: [session, { flags: '--title <TEXT>', field: 'title', summary: 'title of the new session' }],
    completes: 'sandbox',
    examples: ['session fork ada --title "Another way"'],
    load: async () => (await import('./commands.ts')).sessionFork,
  },
  {
    name: 'session close',
    summary: 'close a session: it stays readable and accepts no more prompts',
    args: '<SANDBOX>',
    options: [session],
    completes: 'sandbox',
    examples: ['session close ada'],
    load: async () => (await import('./commands.ts')).sessionClose,
  },
  {
    name: 'session rm',
    summary: 'remove a session and its messages',
    args: '<SANDBOX>',
    options: [{ flags: '--session <ID>', summary: 'the session, by its id or the beginning or end of it; required' }],
    completes: 'sandbox',
    examples: ['session rm ada --session 3f2a'],
    load: async () => (await import('./commands.ts')).sessionRm,
  },
  {
    name: 'session token',
    summary: 'make a token for port 3002 of a sandbox; with ls list them, with rm revoke them',
    args: '<SANDBOX> [ls|rm] [ID...]',
    usage: 'SANDBOX | SANDBOX ls | SANDBOX rm ID…',
    completes: 'sandbox',
    examples: ['session token ada', 'session token ada ls'],
    load: async () => (await import('./token.ts')).sessionToken,
  },
];

export const sessions: Area = { heading: 'Sessions:', groups, commands };
