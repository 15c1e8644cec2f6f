/**
 * Kills the agent, the agent API, the daemon or a client between two events, again and again, while prompts are sent
 * and questions are answered; then compares what all of them have seen. A seed decides what happens.
 */
import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { isFault } from '../../src/model/fault.ts';
import type { SessionEvent } from '../../src/noun/session/model/session.ts';
import { SessionFold } from '../../src/noun/session/model/session-fold.ts';
import { type Random, randomFrom } from '../fixtures/random-edits.ts';
import { gather, type Installation, until } from './installation.ts';
import { isQuiet, problemsOf, type Talk } from './session.ts';
import { kill, processesBeside } from './session-inside.ts';
import { stateOf } from './session-state.ts';

const victims = ['agent', 'api', 'daemon', 'client'] as const;
type Victim = (typeof victims)[number];

/** A line of the agent's file `got`. */
type Got = { readonly prompt: string } | { readonly answer: string; readonly option: string };

export class Campaign {
  readonly killed: Record<Victim, number> = { agent: 0, api: 0, daemon: 0, client: 0 };
  readonly #carrel: Installation;
  readonly #first: string;
  readonly #random: Random;
  readonly #watched: Watched[];
  readonly #client: KilledClient;
  readonly #accepted: string[] = [];

  /** `first`: the pid on the host of the first process of the sandbox. */
  constructor(carrel: Installation, first: string, talks: readonly Talk[], seed: number) {
    this.#carrel = carrel;
    this.#first = first;
    this.#random = randomFrom(seed);
    this.#watched = talks.map((talk) => new Watched(talk));
    this.#client = new KilledClient(carrel, talks[0]!);
  }

  async round(number: number): Promise<void> {
    const random = this.#random;
    const watched = this.#watched[random(this.#watched.length)]!;
    const from = watched.seq;
    const texts = Array.from({ length: 1 + random(2) }, (_, at) => this.#prompt(`${number}-${at}`));
    const [events, delayMs] = [1 + random(9), random(5)];
    const sent = new Sent(texts.map(([turnId, text]) => watched.talk.prompt(text, turnId, { queue: true })));
    const arrived = watched.until((seq, isDone) => seq >= from + events || (seq > from && isDone));
    await Promise.race([arrived, sent.failed]).catch((error: Error) => this.#explain(error, sent));
    const answering = random(2) === 0 ? this.#answerAll(watched.talk) : null;
    await pause(delayMs);
    await this.#kill(victims[number % victims.length]!);
    if (random(4) === 0) await this.#kill(victims[random(victims.length)]!);
    this.#accepted.push(...(await sent.all));
    await answering;
    await this.#settle(watched.talk).catch((error: Error) => this.#explain(error, sent));
  }

  /** Returns what is wrong; empty: nothing. */
  async problems(): Promise<string[]> {
    const lines = (await this.#carrel.ok('exec', this.#watched[0]!.talk.sandbox, '--', 'cat', 'got'))
      .trim()
      .split('\n');
    const got = lines.map((line) => JSON.parse(line) as Got);
    const problems = twice(got.flatMap((one) => ('prompt' in one ? [one.prompt] : []))).map(
      (text) => `got twice: ${text}`,
    );
    const all: SessionEvent[] = [];
    for (const watched of this.#watched) {
      const [events, inside] = [await watched.talk.events(), await watched.talk.inside()];
      await watched.until((seq) => seq >= events.length);
      problems.push(...problemsOf(events), ...differences(events, inside, 'the log inside'));
      problems.push(...differences(events, watched.events, 'what a client saw'), ...unheard(events, got));
      all.push(...events);
    }
    const first = await this.#watched[0]!.talk.events();
    await until(() => this.#client.events.length >= first.length, 'the client that is killed to see all');
    problems.push(...differences(first, this.#client.events, 'what the client that is killed saw'));
    const prompted = new Set(all.filter(({ type }) => type === 'prompt').map(({ turnId }) => turnId));
    return [
      ...problems,
      ...this.#accepted.filter((id) => !prompted.has(id)).map((id) => `${id} was accepted and lost`),
    ];
  }

  close(): void {
    for (const one of this.#watched) one.close();
    this.#client.close();
  }

  /** Throws the error with the state of everything that takes part. */
  async #explain(error: Error, sent: Sent): Promise<never> {
    const talks = this.#watched.map(({ talk }) => talk);
    const state = await stateOf(this.#carrel, this.#first, talks);
    throw new Error([error.message, `prompts: ${sent}`, ...this.#watched.map(String), ...state].join('\n'));
  }

  /** Makes the id and the text of a turn: words, perhaps with a question among them. */
  #prompt(name: string): [string, string] {
    const words = `words ${1 + this.#random(5)} ${this.#random(4)}`;
    const questions = this.#random(3) === 0 ? [`ask question ${name}.`, words] : [];
    return [`turn-${name}`, [`# ${name}.`, words, ...questions].join('\n')];
  }

  async #kill(victim: Victim): Promise<void> {
    if (await this.#isKilled(victim)) this.killed[victim] += 1;
  }

  /** False: there was nothing of that kind to kill. */
  async #isKilled(victim: Victim): Promise<boolean> {
    const carrel = this.#carrel;
    if (victim === 'client') return this.#client.kill();
    if (victim === 'daemon')
      return carrel.killDaemon().then(
        () => true,
        () => false,
      );
    const program = victim === 'api' ? 'carrel-agent-api.js\0serve' : 'agent.mjs';
    const pids = processesBeside(this.#first, program);
    return pids.length > 0 && kill(pids[this.#random(pids.length)]!);
  }

  /** Waits until the session is idle, and answers every question that stays. */
  async #settle(talk: Talk): Promise<void> {
    await until(async () => {
      const { state, turnId, queued } = await talk.show();
      if (state === 'waiting') await this.#answerAll(talk);
      // An agent that is killed while it starts makes the session fail until the next prompt.
      return ['idle', 'failed'].includes(state) && turnId === null && queued === 0;
    }, `session ${talk.id} to be idle`);
  }

  async #answerAll(talk: Talk): Promise<void> {
    for (const { pendingId } of (await talk.show()).pending) {
      await talk.answer(pendingId, 'yes').catch((error: unknown) => {
        // An answer whose response was lost counts, and so does one that another request gave.
        if (!isFault(error, 'conflict')) throw error;
      });
    }
  }
}

/** Prompts that were sent and may be unanswered. */
class Sent {
  readonly all: Promise<string[]>;
  /** Rejects when one is refused, and else stays open. */
  readonly failed: Promise<never>;
  readonly #outcomes: string[];

  constructor(prompts: readonly Promise<string>[]) {
    this.#outcomes = prompts.map(() => 'not answered');
    for (const [at, prompt] of prompts.entries())
      prompt.then(
        (turnId) => this.#outcomes.splice(at, 1, `${turnId} accepted`),
        (error: Error) => this.#outcomes.splice(at, 1, `refused: ${error.message}`),
      );
    this.all = Promise.all(prompts);
    this.failed = new Promise((_, reject) => this.all.catch(reject));
    this.failed.catch(() => {});
  }

  toString(): string {
    return this.#outcomes.join(', ');
  }
}

/** A client that follows a session and connects again by its position. */
class Watched {
  readonly talk: Talk;
  readonly events: SessionEvent[] = [];
  readonly #fold = new SessionFold();
  readonly #stop = new AbortController();
  #connections = 0;
  /** Why the last connection ended. */
  #ended = '';

  constructor(talk: Talk) {
    this.talk = talk;
    void this.#follow();
  }

  get seq(): number {
    return this.events.length;
  }

  /** `isDone`: nothing more comes by itself. */
  async until(isEnough: (seq: number, isDone: boolean) => boolean): Promise<void> {
    await until(() => isEnough(this.seq, isQuiet(this.#fold)), `events of session ${this.talk.id}`);
  }

  close(): void {
    this.#stop.abort();
  }

  toString(): string {
    const { seq, type } = this.events.at(-1) ?? {};
    return `client of ${this.talk.id}: event ${seq} ${type}, connection ${this.#connections}, the last ended: ${this.#ended}`;
  }

  #take(event: SessionEvent): void {
    this.events.push(event);
    this.#fold.take(event);
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        this.#connections += 1;
        for await (const event of this.talk.follow(this.events.at(-1)?.seq ?? 0, signal)) this.#take(event);
      } catch (error) {
        // The daemon is gone, ignoring: another one comes.
        this.#ended = (error as Error).message;
        await pause(20, undefined, { signal }).catch(() => {});
      }
    }
  }
}

/** `carrel session follow`, which is killed, and started again after the last line that it has written. */
class KilledClient {
  readonly #carrel: Installation;
  readonly #talk: Talk;
  readonly #before: SessionEvent[] = [];
  #process: ChildProcess;
  #written: () => string;

  constructor(carrel: Installation, talk: Talk) {
    this.#carrel = carrel;
    this.#talk = talk;
    [this.#process, this.#written] = this.#start();
  }

  get events(): readonly SessionEvent[] {
    return [...this.#before, ...this.#now()];
  }

  async kill(): Promise<true> {
    if (!this.#process.kill('SIGKILL')) throw new Error(`the client ended by itself with ${this.#process.exitCode}`);
    await new Promise((resolve) => this.#process.once('close', resolve));
    this.#before.push(...this.#now());
    [this.#process, this.#written] = this.#start();
    return true;
  }

  close(): void {
    this.#process.kill('SIGKILL');
  }

  #start(): [ChildProcess, () => string] {
    const { sandbox, id } = this.#talk;
    const after = String(this.#before.at(-1)?.seq ?? 0);
    const child = this.#carrel.spawn(['--json', 'session', 'follow', sandbox, '--session', id, '--after', after]);
    child.stderr!.resume();
    return [child, gather(child.stdout!)];
  }

  #now(): SessionEvent[] {
    return this.#written()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as SessionEvent);
  }
}

function twice(texts: readonly string[]): string[] {
  return texts.filter((text, at) => texts.indexOf(text) !== at);
}

function differences(events: readonly SessionEvent[], others: readonly SessionEvent[], what: string): string[] {
  if (events.length !== others.length) return [`${what} has ${others.length} events, not ${events.length}`];
  const at = events.findIndex((event, index) => JSON.stringify(event) !== JSON.stringify(others[index]));
  return at < 0 ? [] : [`${what} differs at event ${at + 1}`];
}

/** Returns turns that ended well without their agent, turns without end, and answers that no agent got. */
function unheard(events: readonly SessionEvent[], got: readonly Got[]): string[] {
  const text = got.map((one) => ('prompt' in one ? one.prompt : one.answer));
  const ended = events.filter((event) => event.type === 'turn.ended');
  const prompts = events.filter((event) => event.type === 'prompt');
  const well = prompts.filter(({ turnId }) =>
    ended.some((end) => end.turnId === turnId && end.data.stopReason === 'end_turn'),
  );
  const questions = events.filter((event) => event.type === 'question');
  const answered = new Set(events.flatMap((event) => (event.type === 'answer' ? [event.data.pendingId] : [])));
  return [
    ...prompts
      .filter(({ turnId }) => !ended.some((end) => end.turnId === turnId))
      .map((one) => `no end of ${one.turnId}`),
    ...well
      .filter(
        ({ data }) => !got.some((one) => 'prompt' in one && one.prompt === (data.content[0] as { text?: string }).text),
      )
      .map(({ turnId }) => `${turnId} ended, and the agent never got it`),
    ...questions.filter(({ data }) => !answered.has(data.pendingId)).map(({ data }) => `no answer to ${data.title}`),
    ...questions
      .filter(({ data }) => !text.some((one) => one.includes(data.title) && !one.includes(`ask ${data.title}`)))
      .map(({ data }) => `the agent never got the answer to ${data.title}`),
  ];
}
