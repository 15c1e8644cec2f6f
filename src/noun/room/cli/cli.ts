/** The commands about rooms. */

import type { Area, CommandEntry, GroupEntry, NameSources } from '../../../client/cli.ts';
import { roomNamePattern } from '../model/room.ts';

const groups: readonly GroupEntry[] = [{ name: 'room', summary: 'messages between people, sandboxes and services' }];

const commands: readonly CommandEntry[] = [
  {
    name: 'room create',
    summary: 'create a room: a folder of messages',
    args: '<NAME>',
    fields: { name: 'NAME' },
    options: [
      { flags: '--at <DIR>', field: 'at', summary: 'its folder; left out, one in the home of Carrel; for the owner' },
      { flags: '--keep-days <N>', field: 'keepDays', summary: 'move messages older than N days to the archive' },
      {
        flags: '--keep-messages <N>',
        field: 'keepMessages',
        summary: 'move all but the newest N messages to the archive',
      },
    ],
    examples: ['room create plans', 'room create plans --keep-days 30'],
    load: async () => (await import('./commands.ts')).roomCreate,
  },
  {
    name: 'room ls',
    summary: 'list rooms',
    examples: ['room ls'],
    load: async () => (await import('./commands.ts')).roomLs,
  },
  {
    name: 'room show',
    summary: 'show a room: its folder, counts, participants and last message',
    args: '<NAME>',
    options: [
      { flags: '--refused', summary: 'list what was refused instead, the newest first, with the reasons' },
      { flags: '--repair', summary: 'compare each file of the room with its messages, and write damaged ones again' },
    ],
    completes: 'rooms',
    examples: ['room show plans'],
    load: async () => (await import('./show.ts')).roomShow,
  },
  {
    name: 'room post',
    summary: 'post a message and print its id; - reads it from stdin',
    args: '<NAME> [TEXT...]',
    usage: '[options] NAME TEXT…|-',
    fields: { body: 'TEXT' },
    options: [
      { flags: '--reply <ID>', field: 'replyTo', summary: 'the message that this one answers' },
      { flags: '--attach <FILE>', field: 'attachments', summary: 'a file to attach; may be repeated', repeat: true },
    ],
    completes: 'rooms',
    examples: ['room post plans The parser is done.', 'room post plans --attach report.pdf Here it is.'],
    load: async () => (await import('./post.ts')).roomPost,
  },
  {
    name: 'room read',
    summary: 'print messages, the newest unless an option says otherwise; they count as read',
    args: '<NAME>',
    options: [
      { flags: '--unread', summary: 'the first messages that you have not read' },
      { flags: '--after <ID>', field: 'after', summary: 'the first messages after this one' },
      { flags: '--limit <N>', field: 'limit', summary: 'at most N messages (default 50, at most 1000)' },
      {
        flags: '--search <TEXT>',
        field: 'search',
        summary: 'the newest messages with all these words, archived ones too',
      },
      { flags: '--archived', summary: 'messages that were moved to the archive, the oldest first' },
      { flags: '--peek', summary: 'they do not count as read' },
    ],
    completes: 'rooms',
    examples: ['room read plans --unread', 'room read plans --search parser'],
    load: async () => (await import('./commands.ts')).roomRead,
  },
  {
    name: 'room follow',
    summary: 'print messages as they are posted, until Ctrl-C',
    args: '<NAME>',
    options: [{ flags: '--after <ID>', field: 'after', summary: 'begin with the first message after this one' }],
    completes: 'rooms',
    examples: ['room follow plans'],
    load: async () => (await import('./commands.ts')).roomFollow,
  },
  {
    name: 'room members',
    summary: 'list, add or remove participants',
    args: '<NAME>',
    options: [
      { flags: '--add <WHO>', field: 'add', summary: 'add a participant outside Carrel' },
      {
        flags: '--remove <WHO>',
        field: 'remove',
        summary: 'remove a participant; it is added again when it posts again',
      },
    ],
    completes: 'rooms',
    examples: ['room members plans', 'room members plans --add ci'],
    load: async () => (await import('./commands.ts')).roomMembers,
  },
  {
    name: 'room watch',
    summary: 'list watchers, or let one handle the messages that mention WHO',
    args: '<NAME> [WHO] [COMMAND...]',
    usage: '[options] NAME [WHO] [-- COMMAND…]',
    options: [
      { flags: '--run', summary: 'run COMMAND on this machine, with the message on stdin' },
      { flags: '--webhook <URL>', field: 'webhook', summary: 'send the message to URL, again if it fails' },
      { flags: '--secret <NAME>', field: 'secret', summary: 'the secret that signs what the webhook gets' },
      {
        flags: '--wake',
        summary: 'start the sandbox WHO, run an agent or COMMAND in it with the message on stdin, post its output',
      },
      { flags: '--agent <NAME>', field: 'wake.agent', summary: 'the agent to run: claude (default) or codex' },
      { flags: '--all', summary: 'all messages, not only those that mention WHO' },
      { flags: '--resume', summary: 'let the paused watcher of WHO continue' },
      { flags: '--rm', summary: 'remove the watcher of WHO' },
    ],
    completes: 'rooms',
    examples: ['room watch plans ada --wake', 'room watch plans sms --run -- ./send-sms'],
    load: async () => (await import('./watch.ts')).roomWatch,
  },
  {
    name: 'room rm',
    summary: 'remove a room and all its messages; a folder that --at named stays',
    args: '<NAME>',
    options: [{ flags: '-f, --force', summary: 'also if sandboxes use it' }],
    completes: 'rooms',
    examples: ['room rm plans'],
    load: async () => (await import('./commands.ts')).roomRm,
  },
];

const names: NameSources = {
  rooms: {
    pattern: roomNamePattern,
    list: async ({ client, signal }) => (await client.call('GET /v1/rooms', { signal })).map(({ name }) => name),
  },
};

export const room: Area = { heading: 'Rooms:', groups, commands, names };
