/**
 * The state of a session, computed from its events. The caller passes the events to `take` in order, from the first
 * one, and can read everything between two of them.
 */
import type {
  Choice,
  ContentBlock,
  EventData,
  EventType,
  MessagePart,
  PlanEntry,
  Question,
  QuestionAnswer,
  SessionEvent,
  SessionMessage,
  SessionState,
  StopReason,
  ToolChange,
} from './session.ts';

export interface OpenQuestion extends Question {
  readonly turnId: string;
  readonly at: string;
}

export interface Turn {
  readonly turnId: string;
  readonly content: readonly ContentBlock[];
  /** True: the agent got the prompt, or is getting it. */
  readonly hasStarted: boolean;
}

/** A message that may still grow. */
interface Draft {
  readonly id: string;
  readonly role: SessionMessage['role'];
  readonly parts: MessagePart[];
  readonly createdAt: string;
}

interface Place {
  readonly parts: MessagePart[];
  readonly at: number;
}

export class SessionFold {
  seq = 0;
  agent = '';
  cwd = '';
  title: string | null = null;
  createdAt = '';
  updatedAt = '';
  forkedFrom: EventData['session.created']['forkedFrom'] = undefined;
  modes: Choice | null = null;
  models: Choice | null = null;
  canFork = false;
  lastEnd: { readonly turnId: string; readonly stopReason: StopReason; readonly reason?: string } | null = null;
  failure: string | null = null;
  isClosed = false;
  readonly #turns = new Map<string, Turn>();
  readonly #ended = new Set<string>();
  readonly #questions = new Map<string, OpenQuestion>();
  readonly #answers = new Map<string, QuestionAnswer>();
  readonly #drafts: Draft[] = [];
  /**
   * The places of the newest part of each tool call, of each question and of the plan: a search for them would take
   * long after many events.
   */
  readonly #tools = new Map<string, Place>();
  readonly #questionPlaces = new Map<string, Place>();
  #planned: Place | null = null;
  #speaking: { readonly turnId: string | undefined; readonly parts: MessagePart[] } | null = null;

  get state(): SessionState {
    if (this.isClosed) return 'closed';
    if (this.#questions.size > 0) return 'waiting';
    if (this.#turns.size > 0) return 'working';
    return this.failure === null ? 'idle' : 'failed';
  }

  /** The turns that have not ended, in the order of their prompts. */
  get turns(): readonly Turn[] {
    return [...this.#turns.values()];
  }

  get questions(): readonly OpenQuestion[] {
    return [...this.#questions.values()];
  }

  get messages(): readonly SessionMessage[] {
    return this.#drafts;
  }

  /** Whether there was ever a prompt for this turn. */
  knows(turnId: string): boolean {
    return this.#turns.has(turnId) || this.#ended.has(turnId);
  }

  /** The answer that a question has; null: none, or there is no such question. */
  answerTo(pendingId: string): QuestionAnswer | null {
    return this.#answers.get(pendingId) ?? null;
  }

  take(event: SessionEvent): void {
    this.seq = event.seq;
    this.updatedAt = event.at;
    (this.#takers[event.type] as (event: SessionEvent) => unknown)(event);
  }

  readonly #takers: { readonly [T in EventType]: (event: Extract<SessionEvent, { type: T }>) => unknown } = {
    'session.created': ({ data, at }) => this.#create(data, at),
    'session.configured': ({ data }) => this.#configure(data),
    'session.titled': ({ data }) => {
      this.title = data.title;
    },
    'session.note': (event) => this.#begin('system', event).parts.push({ type: 'text', text: event.data.text }),
    'session.failed': ({ data }) => {
      this.failure = data.reason;
    },
    'session.closed': () => {
      this.isClosed = true;
    },
    prompt: (event) => this.#ask(event.turnId!, event.data.content, event),
    'turn.started': ({ turnId }) => this.#start(turnId!),
    text: (event) => this.#say('text', event.data.text, event),
    thought: (event) => this.#say('thought', event.data.text, event),
    tool: (event) => this.#change(event.data, event),
    plan: (event) => this.#plan(event.data.entries, event),
    question: (event) => this.#question(event.data, event),
    answer: ({ data }) => this.#answer(data),
    update: () => {},
    'turn.ended': ({ turnId, data }) => this.#end(turnId!, data),
  };

  #create({ agent, cwd, title, forkedFrom }: EventData['session.created'], at: string): void {
    this.agent = agent;
    this.cwd = cwd;
    this.title = title ?? null;
    this.createdAt = at;
    this.forkedFrom = forkedFrom;
  }

  #configure({ modes, models, canFork }: EventData['session.configured']): void {
    this.modes = modes ?? this.modes;
    this.models = models ?? this.models;
    this.canFork = canFork ?? this.canFork;
  }

  #ask(turnId: string, content: readonly ContentBlock[], event: SessionEvent): void {
    this.failure = null;
    this.#turns.set(turnId, { turnId, content, hasStarted: false });
    this.#begin('user', event).parts.push(...content);
  }

  /** A queued prompt starts only with a working agent, so an earlier failure is over. */
  #start(turnId: string): void {
    this.failure = null;
    this.#turns.set(turnId, { ...this.#turns.get(turnId)!, hasStarted: true });
  }

  #question(question: Question, event: SessionEvent): void {
    this.#questions.set(question.pendingId, { ...question, turnId: event.turnId!, at: event.at });
    this.#questionPlaces.set(question.pendingId, this.#add({ type: 'question', ...question }, event));
  }

  #end(turnId: string, ended: EventData['turn.ended']): void {
    this.#turns.delete(turnId);
    this.#ended.add(turnId);
    this.lastEnd = { turnId, ...ended };
  }

  #begin(role: SessionMessage['role'], { seq, at }: SessionEvent): Draft {
    const draft: Draft = { id: `m${seq}`, role, parts: [], createdAt: at };
    this.#drafts.push(draft);
    if (role === 'system') this.#speaking = null;
    return draft;
  }

  /** The parts of the agent's message of this turn: a prompt that waits in the queue does not end the message. */
  #assistant(event: SessionEvent): MessagePart[] {
    if (this.#speaking?.turnId !== event.turnId || this.#speaking === null) {
      this.#speaking = { turnId: event.turnId, parts: this.#begin('assistant', event).parts };
    }
    return this.#speaking.parts;
  }

  #say(type: 'text' | 'thought', text: string, event: SessionEvent): void {
    const parts = this.#assistant(event);
    const last = parts.at(-1);
    if (last?.type === type) parts[parts.length - 1] = { type, text: last.text + text };
    else parts.push({ type, text });
  }

  #add(part: MessagePart, event: SessionEvent): Place {
    const parts = this.#assistant(event);
    return { parts, at: parts.push(part) - 1 };
  }

  #change(change: ToolChange, event: SessionEvent): void {
    const known = this.#tools.get(change.toolCallId);
    if (known) known.parts[known.at] = { ...known.parts[known.at]!, ...change, type: 'tool' };
    else this.#tools.set(change.toolCallId, this.#add({ type: 'tool', ...change }, event));
  }

  /** A message has one plan, the newest. */
  #plan(entries: readonly PlanEntry[], event: SessionEvent): void {
    const known = this.#planned;
    if (known && known.parts === this.#assistant(event)) known.parts[known.at] = { type: 'plan', entries };
    else this.#planned = this.#add({ type: 'plan', entries }, event);
  }

  #answer(answer: QuestionAnswer): void {
    this.#questions.delete(answer.pendingId);
    this.#answers.set(answer.pendingId, answer);
    const place = this.#questionPlaces.get(answer.pendingId);
    if (place) place.parts[place.at] = { ...(place.parts[place.at] as MessagePart & { type: 'question' }), answer };
  }
}
