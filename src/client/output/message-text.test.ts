import { expect, it } from 'vitest';
import type { MessageView } from '../../noun/room/api.ts';
import { bodyLines, messageLines } from './message-text.ts';
import { Output } from './output.ts';

it('R14: control characters, marks of direction and separators are removed from a body; newline and tab stay', () => {
  expect(bodyLines('a\u001b[31mb\tc\r\nd\u202ee\u2028f\u0007\u009b2J\n')).toEqual(['  a[31mb\tc', '  def2J']);
});

it('R14: names of senders and attachments cannot write a line of their own', () => {
  const message: MessageView = {
    ...{ id: '01JD8Q4Z7W3V5T1N9R2B6C8D0E', from: 'eve\nann', at: '2026-11-16T16:40:12.031Z', via: 'inbox' },
    ...{ mentions: [], replyTo: null, attachments: [{ name: 'a\n\u001b[2Jb', bytes: 3 }], body: 'text' },
  };
  const lines = messageLines(message, new Output(false, { write: () => {} }));
  expect(lines).toHaveLength(4);
  expect(lines.join('')).not.toMatch(/\p{Cc}/u);
});
