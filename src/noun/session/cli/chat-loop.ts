/**
 * A conversation on a terminal: events become text, keys become prompts, answers and cancels. The chat knows the
 * session by its events alone, so it also shows what other clients do.
 */

import type { Colour } from '../../../client/output/output.ts';
import { cut, plain } from '../../../client/output/text.ts';
import { asFault } from '../../../model/fault.ts';
import type { Question, SessionEvent } from '../model/session.ts';
import { SessionFold, type Turn } from '../model/session-fold.ts';
import type { ChatScreen } from './chat-screen.ts';
import { EventPrinter } from './event-printer.ts';
import { Form } from './form.ts';
import type { InputLine, TypedKey } from './input-line.ts';
import { viewOf } from './input-view.ts';
import { keysOf, optionsText } from './question-text.ts';
import type { AnswerBody } from './session-calls.ts';
import { type Painter, titleOf } from './tool-text.ts';

/** The requests that the chat sends to the daemon. */
export interface ChatCalls {
  prompt(text: string): Promise<unknown>;
  answer(pendingId: string, body: AnswerBody): Promise<unknown>;
  cancel(): Promise<unknown>;
  /** A line about the changes in the working copy; null: there are none. */
  changes(): Promise<string | null>;
}

export interface ChatParts {
  readonly talk: ChatCalls;
  readonly screen: ChatScreen;
  readonly input: InputLine;
  readonly painter: Painter;
  /** Events up to this one are history. */
  readonly seq: number;
  readonly leave: () => void;
  readonly sent: (text: string) => void;
  readonly now?: () => number;
}

/** Two Ctrl-C within this time end the chat. */
const twiceMs = 1000;
const shownHistoryLines = 40;

export class Chat {
  readonly #parts: ChatParts;
  readonly #printer: EventPrinter;
  readonly #fold = new SessionFold();
  #past = '';
  #form: { readonly pendingId: string; readonly form: Form } | null = null;
  /** Questions that this client has answered, though the event of the answer may not have arrived yet. */
  readonly #answered = new Set<string>();
  readonly #requests = new Set<Promise<unknown>>();
  #interruptedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: ChatParts) {
    this.#parts = parts;
    this.#printer = new EventPrinter(parts.painter);
  }

  take(event: SessionEvent): void {
    this.#fold.take(event);
    const text = this.#printer.take(event);
    const { screen, seq } = this.#parts;
    if (event.seq <= seq) this.#past += text;
    else screen.write(text);
    if (event.seq === seq) screen.write(this.#recent());
    if (event.type === 'turn.ended' && event.seq > seq && this.turns.length === 0) void this.#printChanges();
    this.show();
  }

  press(key: TypedKey): void {
    const { input, screen } = this.#parts;
    const question = this.#question();
    const isAnswer = question && input.text === '' && this.#choose(question, key);
    const wish = isAnswer ? null : input.press(key);
    if (wish === 'submit') this.#submit(question);
    else if (wish === 'interrupt') this.#interrupt();
    else if (wish === 'leave') this.#parts.leave();
    else if (wish === 'redraw') screen.clear();
    this.show();
  }

  note(text: string): void {
    this.#printLine('dim', text);
  }

  show(): void {
    const { screen, input, painter } = this.#parts;
    const status = this.#status();
    const mark = this.#question()?.options === undefined && this.#question() ? '? ' : '› ';
    const view = viewOf(input.text, input.cursor, mark, screen.columns);
    if (status === '') screen.show(view);
    else
      screen.show({
        ...view,
        rows: [painter.paint('dim', cut(status, screen.columns - 1)), ...view.rows],
        row: view.row + 1,
      });
  }

  /** Prints text on its own line, also while the agent's line is unfinished. */
  #printLine(colour: Colour, text: string): void {
    const { screen, painter } = this.#parts;
    screen.write(this.#printer.note(painter.paint(colour, plain(text))));
    this.show();
  }

  #status(): string {
    const question = this.#question();
    if (question?.options) return `answer: ${optionsText(question)}`;
    if (question) return this.#formOf(question).prompt ?? '';
    const turns = this.turns;
    if (turns.length === 0) return '';
    const [tool] = this.#printer.running;
    const queued = turns.length > 1 ? `, ${turns.length - 1} queued` : '';
    return `${tool ? titleOf(tool) : 'working'}…${queued} (Ctrl-C cancels)`;
  }

  /** The turns that have not ended. */
  get turns(): readonly Turn[] {
    return this.#isPast ? [] : this.#fold.turns;
  }

  /** Whether events of the history are still arriving: a turn or question may look open because its end comes later. */
  get #isPast(): boolean {
    return this.#fold.seq < this.#parts.seq;
  }

  /** The first open question that has no answer yet. */
  #question(): Question | undefined {
    const open = this.#isPast ? [] : this.#fold.questions;
    return open.find(({ pendingId }) => !this.#answered.has(pendingId));
  }

  #formOf(question: Question): Form {
    if (this.#form?.pendingId !== question.pendingId) {
      this.#form = { pendingId: question.pendingId, form: new Form(question) };
    }
    return this.#form.form;
  }

  /** Answers the question if the key is an answer; returns whether it was. */
  #choose(question: Question, { sequence = '', ctrl, meta }: TypedKey): boolean {
    if (ctrl || meta) return false;
    if (!question.options && this.#formOf(question).isKey(sequence)) {
      this.#fill(question, sequence);
      return true;
    }
    const option = keysOf(question).get(sequence.toLowerCase());
    if (option) this.#answer(question, { optionId: option.id });
    return option !== undefined;
  }

  #submit(question: Question | undefined): void {
    const { input, talk, sent } = this.#parts;
    if (question?.options) this.note(`a question is open: ${optionsText(question)}`);
    else if (question) this.#fill(question, input.take());
    else if (input.text.trim() !== '') {
      const text = input.accept();
      sent(text);
      this.#ask(() => talk.prompt(text));
    }
  }

  #fill(question: Question, line: string): void {
    const form = this.#formOf(question);
    const problem = form.take(line);
    if (problem !== null) this.note(problem);
    else if (form.prompt === null) this.#answer(question, { content: form.content });
  }

  #answer({ pendingId }: Question, body: AnswerBody): void {
    this.#answered.add(pendingId);
    this.#ask(async () => {
      try {
        await this.#parts.talk.answer(pendingId, body);
      } catch (error) {
        this.#answered.delete(pendingId);
        this.#form = null;
        throw error;
      }
    });
  }

  /** Handles Ctrl-C: empties the input, or cancels the turn. A second one soon after ends the chat. */
  #interrupt(): void {
    const { input, talk, leave, now = Date.now } = this.#parts;
    const isSecond = now() - this.#interruptedAt < twiceMs;
    this.#interruptedAt = now();
    if (isSecond) leave();
    else if (input.text !== '') input.clear();
    else if (this.turns.length > 0) this.#ask(() => talk.cancel());
    else this.note('Ctrl-C again or Ctrl-D leaves; the session stays');
  }

  /** Sends a request; the chat prints its error and goes on. */
  #ask(act: () => Promise<unknown>): void {
    const request = act().catch((error: unknown) => {
      const { message, hint } = asFault(error);
      this.#printLine('red', hint === undefined ? message : `${message} (${hint})`);
    });
    this.#requests.add(request);
    void request.then(() => this.#requests.delete(request));
  }

  /** Waits until the daemon has answered all requests, so that a prompt sent just before the end is not lost. */
  async settle(): Promise<void> {
    await Promise.all(this.#requests);
  }

  async #printChanges(): Promise<void> {
    // If the request fails, the line is left out, ignoring.
    const line = await this.#parts.talk.changes().catch(() => null);
    if (line !== null) this.note(line);
  }

  #recent(): string {
    const lines = this.#past.split('\n');
    this.#past = '';
    const rest = lines.length - 1 - shownHistoryLines;
    if (rest <= 0) return lines.join('\n');
    return [this.#parts.painter.paint('dim', `… ${rest} lines before`), ...lines.slice(rest)].join('\n');
  }
}
