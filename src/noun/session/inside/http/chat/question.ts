/** Questions in the form of the tool AskUserQuestion, for the routes `/chat/question` and `/chat/answer`. */
import { Fault } from '../../../../../model/fault.ts';
import { open, record, type Shape, text } from '../../../../../model/shape.ts';
import type { Question } from '../../../model/session.ts';
import type { Answered } from '../../inside.ts';

interface ChatQuestion {
  readonly question: string;
  readonly header: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
  readonly multiSelect: false;
}

/** `toolUseID` is the id of the question; `answers` maps the text of each question to the chosen label. */
export const answersRequest = open({
  toolUseID: text({ min: 1, max: 500 }),
  answers: record({ max: 300_000 }, text({ max: 100_000 }), 100) as Shape<Readonly<Record<string, string>>>,
});

type Property = {
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
};

function propertiesOf({ schema }: Question): readonly (readonly [string, Property])[] {
  return Object.entries((schema?.properties ?? {}) as Readonly<Record<string, Property>>);
}

export function chatQuestion(question: Question): object {
  const { pendingId: toolUseID, title, options } = question;
  if (options !== undefined) {
    const choices = options.map(({ name, kind = '' }) => ({ label: name, description: kind }));
    return { toolUseID, questions: [{ question: title, header: 'Permission', options: choices, multiSelect: false }] };
  }
  return { toolUseID, questions: propertiesOf(question).map(([name, property]) => fieldQuestion(name, property)) };
}

function fieldQuestion(name: string, property: Property): ChatQuestion {
  const options = (property.enum ?? []).map((value) => ({ label: String(value), description: '' }));
  return { question: questionText(name, property), header: name, options, multiSelect: false };
}

function questionText(name: string, { title, description }: Property): string {
  return description ?? title ?? name;
}

export function answerOf(question: Question, answers: Readonly<Record<string, string>>): Answered {
  if (question.options === undefined) return { content: contentOf(question, answers) };
  const chosen = answers[question.title] ?? Object.values(answers)[0];
  const option = question.options.find(({ id, name }) => name === chosen || id === chosen);
  if (option) return { optionId: option.id };
  throw new Fault('invalid', `${JSON.stringify(chosen)} is not an option of this question`, {
    hint: `Options: ${question.options.map(({ name }) => name).join(', ')}.`,
  });
}

function contentOf(question: Question, answers: Readonly<Record<string, string>>): Record<string, unknown> {
  const values = propertiesOf(question).map(([name, property]) => {
    const answer = answers[questionText(name, property)] ?? answers[name];
    return [name, answer === undefined ? undefined : typed(answer, property)] as const;
  });
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

/** Converts an answer, which is always text, to the type in the schema. */
function typed(answer: string, { type }: Property): unknown {
  if (type === 'boolean') return answer === 'true';
  if (type === 'number' || type === 'integer') return Number(answer);
  return answer;
}
