import type { Context, Invocation } from '../../../client/cli.ts';
import { connect } from '../../../client/connect/connect.ts';
import { Fault } from '../../../model/fault.ts';
import { checkSandboxName, printable } from '../../../model/name.ts';
import type { QuestionView, SessionView } from '../api.ts';
import { findSession, placeOf } from './find-session.ts';
import { Form } from './form.ts';
import { keysOf, optionsText } from './question-text.ts';
import { type AnswerBody, SessionCalls } from './session-calls.ts';

interface Options {
  readonly session?: string;
  readonly question?: string;
  readonly cancel?: boolean;
}

export async function sessionAnswer(context: Context, { args, options }: Invocation<Options>): Promise<void> {
  const [name, ...words] = args;
  const calls = new SessionCalls(connect(context));
  const session = await findSession(calls, checkSandboxName(name!), options.session);
  const question = questionOf(session, options.question);
  const body = options.cancel ? { cancel: true } : answerOf(question, words.join(' '));
  await calls.answer(placeOf(session), question.pendingId, body);
  if (context.json) context.out.document({ sessionId: session.sessionId, pendingId: question.pendingId, ...body });
}

function questionOf({ pending, sandbox, sessionId }: SessionView, id: string | undefined): QuestionView {
  const found = id === undefined ? pending : pending.filter(({ pendingId }) => pendingId === id);
  if (found.length === 1) return found[0]!;
  const titles = pending.map(({ pendingId, title }) => `${pendingId} ${printable(title)}`);
  if (found.length > 1) {
    throw new Fault('invalid', `${found.length} questions are open`, {
      hint: `Name one with --question: ${titles.join(', ')}`,
    });
  }
  throw new Fault('not_found', id === undefined ? 'no question is open' : `no open question ${printable(id)}`, {
    hint:
      titles.length > 0
        ? `There are ${titles.join(', ')}`
        : `carrel session show ${sandbox} --session ${sessionId} has the answers.`,
  });
}

/** The answer: an option by its key, id or name; else text for the only field, or JSON for all fields. */
export function answerOf(question: QuestionView, text: string): AnswerBody {
  if (question.options === undefined) return { content: contentOf(question, text) };
  const wanted = text.toLowerCase();
  const option =
    keysOf(question).get(wanted) ??
    question.options.find(({ id, name }) => id === text || name.toLowerCase() === wanted);
  if (option) return { optionId: option.id };
  throw new Fault('invalid', `ANSWER: ${printable(text)} is not an option`, {
    hint: `They are ${optionsText(question)}`,
  });
}

function contentOf(question: QuestionView, text: string): Readonly<Record<string, unknown>> {
  const object = /^\s*\{/.test(text) ? parsed(text) : null;
  if (object !== null) return object;
  const form = new Form(question);
  const problem = form.take(text);
  if (problem === null && form.prompt === null) return form.content;
  const hint =
    problem === null
      ? 'The question has several fields: answer with a JSON object of them.'
      : `${form.prompt}: ${problem}`;
  throw new Fault('invalid', `ANSWER: ${printable(text)} does not answer the question`, { hint });
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    // The text only looks like JSON, ignoring.
    return null;
  }
}
