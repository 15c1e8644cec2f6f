import { expect, test } from 'vitest';
import { parseMessage } from './inside.ts';

test('a message file is read field by field, and its body may hold any text', () => {
  const head = ['id: 01JD8Q4Y000000000000000000', 'from: "sms:+4930"', 'at: 2026-11-16T16:40:12.031Z'];
  const lists = ['mentions: [reviewer, "no"]', 'reply_to: 01JD8Q4X000000000000000000', 'via: inbox'];
  const files = ['attachments: ["a, b.csv", c.txt]'];
  const body = '---\nfrom: boss\n---\ntext\n';
  expect(parseMessage(`---\n${[...head, ...lists, ...files].join('\n')}\n---\n${body}`)).toEqual({
    id: '01JD8Q4Y000000000000000000',
    from: 'sms:+4930',
    at: '2026-11-16T16:40:12.031Z',
    mentions: ['reviewer', 'no'],
    replyTo: '01JD8Q4X000000000000000000',
    via: 'inbox',
    attachments: ['a, b.csv', 'c.txt'],
    body,
  });
});
