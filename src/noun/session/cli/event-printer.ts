/**
 * Events of a session as text for a person. `take` gets them in order and returns the text to append. The text may end
 * within a line, which the next piece of the agent's text continues. The printer knows no terminal.
 */

import { plain, plainText } from '../../../client/output/text.ts';
import type { EventType, PlanEntry, Question, SessionEvent, ToolChange } from '../model/session.ts';
import { answerText, optionsText } from './question-text.ts';
import { diffLines, type Painter, toolLines } from './tool-text.ts';

type Of<T extends EventType> = Extract<SessionEvent, { type: T }>;

const planMarks: Readonly<Record<string, string>> = { completed: '☑', in_progress: '▸' };
const endings: Readonly<Record<string, string>> = {
  max_tokens: 'the turn ended: the agent has no more tokens',
  max_turn_requests: 'the turn ended: the agent has no more requests',
  refusal: 'the agent refused',
  cancelled: 'cancelled',
  interrupted: 'interrupted: the agent was killed',
  failed: 'the turn failed',
};

export class EventPrinter {
  readonly #painter: Painter;
  readonly #tools = new Map<string, ToolChange>();
  readonly #questions = new Map<string, Question>();
  /** Tool calls whose diffs were already shown. */
  readonly #shown = new Set<string>();
  /** Prompts by turn, until the agent gets them. */
  readonly #queued = new Map<string, string>();
  #turn: string | null = null;
  #plan: readonly PlanEntry[] = [];
  #folder = '/workspace';
  /** The kind of the unfinished line; null: the last line is complete. */
  #open: 'text' | 'thought' | null = null;
  #isFirst = true;

  constructor(painter: Painter) {
    this.#painter = painter;
  }

  take(event: SessionEvent): string {
    return (this.#takers[event.type] as (event: SessionEvent) => string)(event);
  }

  /** The tool calls that are under way. */
  get running(): readonly ToolChange[] {
    return [...this.#tools.values()];
  }

  readonly #takers: { readonly [T in EventType]: (event: Of<T>) => string } = {
    'session.created': ({ data }) => {
      this.#folder = data.cwd;
      return '';
    },
    'session.configured': () => '',
    'session.titled': () => '',
    'session.note': ({ data }) => this.#lines(this.#painter.paint('dim', `note: ${plain(data.text)}`)),
    'session.failed': ({ data }) => this.#lines(this.#painter.paint('red', `failed: ${plain(data.reason)}`)),
    'session.closed': () => this.#lines(this.#painter.paint('dim', 'the session is closed')),
    prompt: (event) => this.#prompt(event),
    'turn.started': ({ turnId = '' }) => this.#start(turnId),
    text: ({ data }) => this.#say('text', plainText(data.text)),
    thought: ({ data }) => this.#say('thought', plainText(data.text)),
    tool: ({ data }) => this.#tool(data),
    plan: ({ data }) => this.#changedPlan(data.entries),
    question: ({ data }) => this.#question(data),
    answer: ({ data }) => this.#lines(`  → ${answerText(this.#questions.get(data.pendingId), data)}`),
    update: () => '',
    'turn.ended': (event) => this.#end(event),
  };

  /** Prints a line that is not an event. */
  note(line: string): string {
    return this.#lines(line);
  }

  #prompt({ data, turnId = '' }: Of<'prompt'>): string {
    const text = data.content.map((block) => ('text' in block ? block.text : `[${block.type}]`)).join('\n');
    this.#queued.set(turnId, text);
    return this.#turn === null ? this.#start(turnId) : '';
  }

  #start(turnId: string): string {
    const text = this.#queued.get(turnId);
    this.#turn = turnId;
    if (!this.#queued.delete(turnId)) return '';
    const lines = plainText(text!.trimEnd()).split('\n');
    const blank = this.#isFirst ? [] : [''];
    this.#isFirst = false;
    return this.#lines(
      ...blank,
      ...lines.map((line, index) => this.#painter.paint('bold', `${index ? ' ' : '›'} ${line}`)),
    );
  }

  #say(kind: 'text' | 'thought', text: string): string {
    if (text === '') return '';
    const start = this.#open === null || this.#open === kind ? '' : '\n';
    this.#open = text.endsWith('\n') ? null : kind;
    const lines = kind === 'text' ? text : text.replace(/[^\n]+/g, (line) => this.#painter.paint('dim', line));
    return start + lines;
  }

  #tool(change: ToolChange): string {
    const tool = { ...this.#tools.get(change.toolCallId), ...change };
    this.#tools.set(tool.toolCallId, tool);
    if (tool.status !== 'completed' && tool.status !== 'failed') return '';
    this.#tools.delete(tool.toolCallId);
    const diff = tool.status === 'completed' ? this.#diffOnce(tool) : [];
    return this.#lines(...toolLines(tool, this.#painter), ...diff);
  }

  #diffOnce(tool: ToolChange): string[] {
    const lines = this.#shown.has(tool.toolCallId) ? [] : diffLines(tool, this.#folder, this.#painter);
    if (lines.length > 0) this.#shown.add(tool.toolCallId);
    return lines;
  }

  /** The entries that are new, or completed, since the last plan. */
  #changedPlan(entries: readonly PlanEntry[]): string {
    const before = new Map(this.#plan.map(({ content, status }) => [content, status]));
    this.#plan = entries;
    const changed = entries.filter(({ content, status }) => {
      const was = before.get(content);
      return was === undefined || (was !== status && status === 'completed');
    });
    return this.#lines(...changed.map(({ content, status }) => `${planMarks[status] ?? '☐'} ${plain(content)}`));
  }

  #question(question: Question): string {
    this.#questions.set(question.pendingId, question);
    const tool = this.#tools.get(question.toolCallId ?? '');
    const options = optionsText(question);
    const head = `${this.#painter.paint('yellow', '?')} ${this.#painter.paint('bold', plain(question.title))}`;
    return this.#lines(...(tool ? this.#diffOnce(tool) : []), options === '' ? head : `${head}  ${options}`);
  }

  #end({ turnId = '', data: { stopReason, reason } }: Of<'turn.ended'>): string {
    const begun = this.#start(turnId);
    this.#turn = null;
    this.#tools.clear();
    this.#shown.clear();
    this.#plan = [];
    const text = endings[stopReason];
    if (text === undefined) return begun + this.#lines();
    const colour = stopReason === 'cancelled' ? 'dim' : 'red';
    return begun + this.#lines(this.#painter.paint(colour, reason === undefined ? text : `${text}: ${plain(reason)}`));
  }

  /** Whole lines; an unfinished line before them is ended. */
  #lines(...lines: readonly string[]): string {
    const start = this.#open === null ? '' : '\n';
    this.#open = null;
    return start + lines.map((line) => `${line}\n`).join('');
  }
}
