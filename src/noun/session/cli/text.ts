/** Sessions and their messages as text. */

import type { Colour, Output } from '../../../client/output/output.ts';
import { plain, plainText } from '../../../client/output/text.ts';
import type { SessionMessageView, SessionView } from '../api.ts';
import type { MessagePart, ToolChange } from '../model/session.ts';
import { type AnyQuestion, answerText, optionsText } from './question-text.ts';
import { toolLines } from './tool-text.ts';

const colours: { readonly [S in SessionView['state']]: Colour } = {
  idle: 'green',
  working: 'yellow',
  waiting: 'cyan',
  failed: 'red',
  closed: 'dim',
};

export function paintSession(out: Output, { state }: SessionView): string {
  return out.paint(colours[state], state);
}

/** `? Write a.txt  y Allow, n Reject`. */
export function questionLine(question: AnyQuestion): string {
  const options = optionsText(question);
  return `? ${plain(question.title)}${options === '' ? '' : `  ${options}`}`;
}

export function messageLines({ role, parts }: SessionMessageView, out: Output): string[] {
  const lines = parts.flatMap((part) => partLines(part as unknown as MessagePart, out));
  if (role !== 'user') return lines;
  return lines.map((line, index) => out.paint('bold', `${index ? ' ' : '›'} ${line}`));
}

function partLines(part: MessagePart, out: Output): string[] {
  if (part.type === 'text') return plainText(part.text.trimEnd()).split('\n');
  if (part.type === 'thought')
    return plainText(part.text.trimEnd())
      .split('\n')
      .map((line) => out.paint('dim', line));
  if (part.type === 'tool') return toolLines(part as ToolChange, out);
  if (part.type === 'plan')
    return part.entries.map(({ content, status }) => `${status === 'completed' ? '☑' : '☐'} ${plain(content)}`);
  if (part.type === 'question') {
    return [questionLine(part), ...(part.answer ? [`  → ${answerText(part, part.answer)}`] : [])];
  }
  return [`[${plain(part.type)}]`];
}
