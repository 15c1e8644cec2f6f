/**
 * One client of the Agent Client Protocol, which sees the sandbox as an agent. Its sessions are those of the log, so it
 * also sees what other clients do in them. The connection itself is only in memory; without it the client initializes
 * again and loads its sessions.
 */
import { randomUUID } from 'node:crypto';
import { Fault, isFault } from '../../../../../model/fault.ts';
import type { EventData } from '../../../model/session.ts';
import type { AgentSessions, Answered, Session } from '../../inside.ts';
import { AcpUpdates, modelsOf, modesOf, questionRequest } from './acp-updates.ts';
import { Outbox } from './outbox.ts';
import { blocksOf, idOf, nameOf, type Params } from './shape.ts';

type Ended = EventData['turn.ended'];
type Method = (params: Params) => Promise<object>;

export class AcpConnection {
  readonly agent: string | undefined;
  readonly createdAtMs = Date.now();
  readonly outbox = new Outbox();
  readonly #sessions: AgentSessions;
  readonly #attached = new Map<string, AbortController>();
  /** Turns that this client began, until they end. */
  readonly #turns = new Map<string, (ended: Ended) => void>();
  readonly #questions = new Map<string, Session>();
  #canFillForms = false;

  constructor(sessions: AgentSessions, agent: string | undefined) {
    this.#sessions = sessions;
    this.agent = agent;
  }

  get isIdle(): boolean {
    return this.outbox.readers === 0 && this.#turns.size === 0;
  }

  dispose(): void {
    for (const attachment of this.#attached.values()) attachment.abort();
  }

  async request(method: string, params: Params): Promise<object> {
    const handle = Object.hasOwn(this.#methods, method) ? this.#methods[method] : undefined;
    if (handle === undefined) throw new Fault('unsupported', `there is no method ${method.slice(0, 100)}`);
    return handle(params);
  }

  async notify(method: string, params: Params): Promise<void> {
    if (method === 'session/cancel') await this.#find(params).cancel();
  }

  /** The client's response to a question. A late response, or one to an unknown question, is ignored. */
  async respond(id: unknown, result: Params | undefined): Promise<void> {
    const session = this.#questions.get(String(id));
    if (session === undefined) return;
    this.#questions.delete(String(id));
    await session.answer(String(id), answerIn(result)).catch((error: unknown) => {
      if (!isFault(error, 'conflict') && !isFault(error, 'not_found')) throw error;
    });
  }

  readonly #methods: Readonly<Record<string, Method>> = {
    initialize: async ({ clientCapabilities }) => {
      this.#canFillForms = Boolean((clientCapabilities as Params | undefined)?.elicitation);
      return initialized;
    },
    authenticate: async () => ({}),
    'session/new': async () => this.#opened(await this.#sessions.create({ agent: this.agent })),
    'session/load': async (params) => {
      const session = this.#find(params);
      await this.#attach(session, 0);
      return described(session);
    },
    'session/resume': async (params) => {
      const session = this.#find(params);
      await this.#attach(session, session.fold.seq);
      return described(session);
    },
    'session/fork': async (params) => this.#opened(await this.#sessions.fork(this.#find(params).id, {})),
    'session/list': async () => ({ sessions: this.#sessions.list().map(listed) }),
    'session/close': async (params) => {
      await this.#find(params).close();
      return {};
    },
    'session/set_mode': async (params) => {
      await this.#find(params).setMode(nameOf(params, 'modeId'));
      return {};
    },
    'session/set_model': async (params) => {
      await this.#find(params).setModel(nameOf(params, 'modelId'));
      return {};
    },
    'session/prompt': (params) => this.#prompt(params),
  };

  #find(params: Params): Session {
    return this.#sessions.find(idOf(params));
  }

  async #opened(session: Session): Promise<object> {
    await this.#attach(session, session.fold.seq);
    return { sessionId: session.id, ...described(session) };
  }

  async #prompt(params: Params): Promise<object> {
    const session = this.#find(params);
    const content = blocksOf(params.prompt);
    if (!this.#attached.has(session.id)) await this.#attach(session, session.fold.seq);
    const turnId = randomUUID();
    const ended = new Promise<Ended>((resolve) => this.#turns.set(turnId, resolve));
    try {
      await session.prompt({ turnId, content });
      const { stopReason, reason } = await ended;
      if (stopReason !== 'failed' && stopReason !== 'interrupted') return { stopReason };
      throw new Fault('internal', reason ?? `the turn was ${stopReason}`);
    } finally {
      this.#turns.delete(turnId);
    }
  }

  /** Relays the events of a session to the client. Resolves when the present ones are in the outbox. */
  #attach(session: Session, after: number): Promise<void> {
    this.#attached.get(session.id)?.abort();
    const attachment = new AbortController();
    this.#attached.set(session.id, attachment);
    const target = session.fold.seq;
    return new Promise((resolve, reject) => {
      if (after >= target) resolve();
      this.#relay(session, after, attachment, (seq) => seq >= target && resolve()).then(resolve, reject);
    });
  }

  async #relay(
    session: Session,
    after: number,
    attachment: AbortController,
    passed: (seq: number) => void,
  ): Promise<void> {
    const updates = new AcpUpdates();
    for (const question of session.fold.questions) this.#ask(session, question);
    const last = session.fold.seq;
    for await (const { event } of session.follow(after, attachment.signal)) {
      const isOwn = event.type === 'prompt' && this.#turns.has(event.turnId!);
      for (const update of isOwn ? [] : updates.take(event))
        this.outbox.push({ method: 'session/update', params: { sessionId: session.id, update } });
      if (event.type === 'question' && event.seq > last) this.#ask(session, event.data);
      if (event.type === 'turn.ended') this.#turns.get(event.turnId!)?.(event.data);
      passed(event.seq);
    }
    if (this.#attached.get(session.id) !== attachment) return;
    this.#attached.delete(session.id);
    for (const { turnId } of session.fold.turns) this.#turns.get(turnId)?.(gone);
  }

  #ask(session: Session, question: EventData['question']): void {
    const request = questionRequest(session.id, question, this.#canFillForms);
    if (request === null) return;
    this.#questions.set(question.pendingId, session);
    this.outbox.push(request);
  }
}

const gone: Ended = { stopReason: 'interrupted', reason: 'the session was removed' };

const initialized = {
  protocolVersion: 1,
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true },
    sessionCapabilities: { list: {}, resume: {}, fork: {}, close: {} },
  },
  agentInfo: { name: 'carrel', version: '1' },
  authMethods: [],
};

function described({ fold }: Session): object {
  return { ...modesOf(fold.modes), ...modelsOf(fold.models) };
}

function listed({ id, fold }: Session): object {
  return { sessionId: id, cwd: fold.cwd, title: fold.title, updatedAt: fold.updatedAt };
}

function answerIn(result: Params | undefined): Answered {
  const outcome = result?.outcome as Params | undefined;
  if (outcome?.outcome === 'selected' && typeof outcome.optionId === 'string') return { optionId: outcome.optionId };
  if (result?.action === 'accept') return { content: (result.content ?? {}) as Params };
  return { cancel: true };
}
